"""Metrics for Prometheus: requests, predictions, and the queue of trainings."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from service.store.jobs import Queue

LATENCIES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The metrics of one application, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        route = ["method", "route", "status"]
        model = ["model", "version"]
        self._requests = Counter("niwaki_requests", "Requests answered.", route, registry=self.registry)
        self._latency = Histogram(
            "niwaki_request_seconds", "Time to answer.", route, buckets=LATENCIES, registry=self.registry
        )
        self._body_bytes = Counter(
            "niwaki_request_body_bytes", "Bytes of bodies read.", ["route"], registry=self.registry
        )
        self.in_flight = Gauge("niwaki_requests_in_flight", "Requests being answered.", registry=self.registry)
        self._routes: dict[tuple[str, str, int], tuple[Counter, Histogram, Counter]] = {}
        self._models: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self._records = Counter("niwaki_predicted_records", "Records predicted.", model, registry=self.registry)
        self._prediction = Histogram(
            "niwaki_prediction_seconds",
            "Time to predict the records of one request.",
            model,
            buckets=LATENCIES,
            registry=self.registry,
        )

    def observe_request(self, method: str, route: str, status: int, seconds: float, body_bytes: int) -> None:
        """Count one request under its route's template, never under its path."""
        requests, latency, bytes_read = self._of_route(method, route, status)
        requests.inc()
        latency.observe(seconds)
        bytes_read.inc(body_bytes)

    def _of_route(self, method: str, route: str, status: int) -> tuple[Counter, Histogram, Counter]:
        """The metrics of a route with these labels; they are looked up once, then cached."""
        labels = method, route, status
        if labels not in self._routes:
            own = self._requests.labels(*labels), self._latency.labels(*labels), self._body_bytes.labels(route)
            self._routes[labels] = own
        return self._routes[labels]

    def observe_prediction(self, model: str, version: int, n_records: int, seconds: float) -> None:
        """Count the records of one prediction under the model's name and version."""
        records, prediction = self._of_model(model, version)
        records.inc(n_records)
        prediction.observe(seconds)

    def _of_model(self, model: str, version: int) -> tuple[Counter, Histogram]:
        """The metrics of a model's version; they are looked up once, then cached."""
        if (model, version) not in self._models:
            self._models[model, version] = self._records.labels(model, version), self._prediction.labels(model, version)
        return self._models[model, version]

    def text(self, queue: Queue | None, *, database_answers: bool) -> bytes:
        """All metrics in Prometheus' text format; without `queue`, those of the queue are left out."""
        return generate_latest(self.registry) + generate_latest(_of_this_moment(queue, database_answers))


def _of_this_moment(queue: Queue | None, database_answers: bool) -> CollectorRegistry:
    """Metrics read from the database at each scrape, in a new registry, so that none of them can be stale."""
    registry = CollectorRegistry()
    Gauge("niwaki_database_up", "1 when the database answers.", registry=registry).set(database_answers)
    if queue is None:
        return registry
    jobs = Gauge("niwaki_jobs", "Trainings by status.", ["status"], registry=registry)
    for status, count in queue.counts.items():
        jobs.labels(status.value).set(count)
    waited = Gauge(
        "niwaki_oldest_queued_job_seconds",
        "How long the oldest queued training has waited; 0 when none waits.",
        registry=registry,
    )
    waited.set(queue.oldest_queued_seconds or 0.0)
    return registry
