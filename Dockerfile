# Two stages: the first installs the pinned packages, the second carries them and the code.
FROM python:3.12-slim AS packages
WORKDIR /build
COPY requirements.txt ./
RUN python -m venv /opt/niwaki \
    && /opt/niwaki/bin/pip install --no-cache-dir --require-hashes -r requirements.txt

FROM python:3.12-slim
ENV PATH=/opt/niwaki/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    NIWAKI_HOST=0.0.0.0 \
    NIWAKI_PORT=8000 \
    NIWAKI_DATA_DIR=/data \
    NIWAKI_KERNEL_DIR=/app/kernels
RUN groupadd --gid 10001 niwaki \
    && useradd --uid 10001 --gid niwaki --home-dir /nonexistent --no-create-home --shell /usr/sbin/nologin niwaki \
    && install --directory --owner niwaki --group niwaki /data
COPY --from=packages /opt/niwaki /opt/niwaki
WORKDIR /app
COPY core core
COPY service service
COPY migrations migrations
# Compiled here, since the running user may write nothing but /data: to bytecode, then what is fast to machine code for
# the baseline processor. On a host that cannot run that, compiled code is kept in /data instead.
RUN python -m compileall -q core service migrations && python -m service warm-up
USER 10001:10001
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["python", "-m", "service", "health"]
ENTRYPOINT ["python", "-m", "service"]
CMD ["serve"]
