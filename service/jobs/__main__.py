"""`python -m service.jobs`: the process that runs jobs, started by a worker's supervisor."""

from service.importing import importing

if __name__ == "__main__":
    with importing():
        from service.jobs.child import run_jobs
    run_jobs()
