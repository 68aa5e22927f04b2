import { availableParallelism } from 'node:os';
import type { MailConfig } from '#domain/messages/mail/mail-server.ts';
import { parseOutboundPolicy } from '#domain/shared/outbound/outbound-policy.ts';
import { fittingConcurrency } from '#worker/slots.ts';
import type { ExecutorConfig, LimitsConfig, StartConfig } from './config-types.ts';
import type { SettingValues } from './parse-settings.ts';

/** Derives the configuration from the settings alone. The data directory and the key ring may come from elsewhere. */
export function composeConfig(values: SettingValues): Omit<StartConfig, 'dataDir' | 'secretKeys'> {
  const adminHost = values.COORDINATOR_ADMIN_HOST ?? '';
  const email = values.COORDINATOR_ADMIN_EMAIL;
  return {
    host: values.COORDINATOR_HOST ?? '',
    port: values.COORDINATOR_PORT ?? 0,
    adminHost,
    adminPort: values.COORDINATOR_ADMIN_PORT ?? 0,
    baseUrl: values.COORDINATOR_BASE_URL,
    issuer: values.COORDINATOR_ISSUER ?? values.COORDINATOR_BASE_URL,
    signingKeyDays: values.COORDINATOR_SIGNING_KEY_DAYS ?? 1,
    user: values.COORDINATOR_USER,
    databaseUrl: values.DATABASE_URL,
    databasePoolSize: values.COORDINATOR_DATABASE_POOL ?? 1,
    temporal: composeTemporal(values),
    bootstrap: { enabled: values.ENABLE_ADMIN_BOOTSTRAP ?? false, token: values.ADMIN_BOOTSTRAP_TOKEN },
    metrics: {
      enabled: values.METRICS_ENABLED ?? isLoopback(adminHost),
      bearerToken: values.METRICS_BEARER_TOKEN,
      workerPort: values.WORKER_METRICS_PORT,
    },
    worker: {
      pools: values.WORKER_POOLS ?? [],
      concurrency: values.WORKER_CONCURRENCY ?? fittingConcurrency(values.WORKER_POOLS?.length ?? 1),
      drainSeconds: values.WORKER_DRAIN_SECONDS ?? 0,
    },
    auditRetentionDays: values.AUDIT_RETENTION_DAYS,
    driftRetention: {
      scanDays: values.DRIFT_SCAN_RETENTION_DAYS ?? 0,
      findingDays: values.DRIFT_FINDING_RETENTION_DAYS ?? 0,
    },
    logLevel: values.LOG_LEVEL ?? 'info',
    outbound: parseOutboundPolicy(values.COORDINATOR_OUTBOUND_ALLOW ?? []),
    pluginRoots: {
      schemas: values.COORDINATOR_PLUGIN_SCHEMAS ?? [],
      databaseUrl: values.COORDINATOR_PLUGIN_DATABASE_URL,
    },
    mail: composeMail(values),
    limits: composeLimits(values),
    trustedProxies: values.COORDINATOR_TRUSTED_PROXIES ?? [],
    executor: composeExecutor(values),
    admin: email === null ? null : { email, password: values.COORDINATOR_ADMIN_PASSWORD },
    sample: values.COORDINATOR_SAMPLE ?? true,
  };
}

function composeMail(values: SettingValues): MailConfig | null {
  const { COORDINATOR_SMTP_URL: server, COORDINATOR_SMTP_FROM: from, COORDINATOR_BASE_URL: linkOrigin } = values;
  return server && from && linkOrigin ? { ...server, from, linkOrigin } : null;
}

function composeExecutor(values: SettingValues): ExecutorConfig {
  const mebibyte = 1024 * 1024;
  const mirror = values.COORDINATOR_PROVIDER_MIRROR;
  const networkMirror = values.COORDINATOR_PROVIDER_NETWORK_MIRROR;
  return {
    isolation: values.COORDINATOR_EXECUTOR_ISOLATION ?? 'sandbox',
    user: values.COORDINATOR_EXECUTOR_USER,
    memoryBytes: (values.COORDINATOR_EXECUTOR_MEMORY_MB ?? 0) * mebibyte,
    // Files of an attempt are in memory, so its memory limit applies to them as well.
    diskBytes:
      Math.min(values.COORDINATOR_EXECUTOR_DISK_MB ?? 0, values.COORDINATOR_EXECUTOR_MEMORY_MB ?? 0) * mebibyte,
    cores: values.COORDINATOR_EXECUTOR_CPUS ?? Math.max(1, Math.floor(availableParallelism() / 2)),
    cpuSeconds: values.COORDINATOR_EXECUTOR_CPU_SECONDS ?? 0,
    processes: values.COORDINATOR_EXECUTOR_PROCESSES ?? 0,
    openFiles: values.COORDINATOR_EXECUTOR_OPEN_FILES ?? 0,
    paths: values.COORDINATOR_EXECUTOR_PATHS ?? [],
    denied: values.COORDINATOR_EXECUTOR_DENIED ?? [],
    toolsDirectory: values.COORDINATOR_TOOLS_DIRECTORY,
    providerMirror: mirror,
    providerNetworkMirror: networkMirror,
    providersDirect: values.COORDINATOR_PROVIDER_DIRECT ?? (mirror === null && networkMirror === null),
    providerStoreBytes: (values.COORDINATOR_PROVIDER_STORE_MB ?? 0) * mebibyte,
  };
}

function composeLimits(values: SettingValues): LimitsConfig {
  return {
    requests: {
      perPrincipal: values.COORDINATOR_REQUESTS_PER_PRINCIPAL ?? 0,
      perAddress: values.COORDINATOR_REQUESTS_PER_ADDRESS ?? 0,
    },
    guesses: {
      perAccount: values.COORDINATOR_GUESSES_PER_ACCOUNT ?? 0,
      perAddress: values.COORDINATOR_GUESSES_PER_ADDRESS ?? 0,
      windowMs: (values.COORDINATOR_GUESSES_MINUTES ?? 1) * 60_000,
    },
  };
}

function composeTemporal(values: SettingValues): StartConfig['temporal'] {
  const crt = values.TEMPORAL_TLS_CLIENT_CERT_PATH;
  const key = values.TEMPORAL_TLS_CLIENT_KEY_PATH;
  const authority = values.TEMPORAL_TLS_SERVER_CA_CERT_PATH;
  const serverName = values.TEMPORAL_TLS_SERVER_NAME;
  const apiKey = values.TEMPORAL_API_KEY;
  const isEncrypted = values.TEMPORAL_TLS ?? (crt !== null || authority !== null || apiKey !== null);
  const tls = {
    ...(serverName !== null && { serverNameOverride: serverName }),
    ...(authority !== null && { serverRootCACertificate: authority }),
    ...(crt !== null && key !== null && { clientCertPair: { crt, key } }),
  };
  return {
    address: values.TEMPORAL_ADDRESS,
    namespace: values.TEMPORAL_NAMESPACE ?? '',
    ...(isEncrypted && { tls }),
    ...(apiKey !== null && { apiKey }),
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
