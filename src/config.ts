import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { z } from 'zod';
import { type OutboundPolicy, parseOutboundPolicy } from '#domain/shared/outbound/outbound-policy.ts';
import { fittingConcurrency } from '#worker/slots.ts';
import type { SecretKey } from './config-values.ts';
import { anyText, secretKeys } from './config-values.ts';
import { readSecretFiles } from './secret-files.ts';
import { settings } from './settings.ts';

/** The table of settings, from which docs/configuration.md is checked. */
export { settings };

/** What every process of the service knows from its environment; read once, at its start, and never changed. */
export type Config = {
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  /** The origin that clients see; null: derived from the address the service listens on. */
  readonly baseUrl: string | null;
  /** Absolute path. */
  readonly dataDir: string;
  /** The account that takes the place of root; null: one that root chooses. */
  readonly user: string | null;
  /** At least one; the first one encrypts, all of them decrypt. */
  readonly secretKeys: readonly SecretKey[];
  readonly databaseUrl: string;
  readonly databasePoolSize: number;
  readonly temporal: TemporalConfig;
  readonly bootstrap: { readonly enabled: boolean; readonly token: string | null };
  readonly metrics: { readonly enabled: boolean; readonly bearerToken: string | null };
  readonly worker: { readonly pools: readonly string[]; readonly concurrency: number; readonly drainSeconds: number };
  /** Days for which audit records are kept; null: for good. */
  readonly auditRetentionDays: number | null;
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  /** Where the service may connect to on behalf of others, beside the public Internet. */
  readonly outbound: OutboundPolicy;
  readonly limits: LimitsConfig;
  /** Addresses and CIDR ranges whose forwarded headers count. */
  readonly trustedProxies: readonly string[];
  readonly executor: ExecutorConfig;
  /** Who becomes administrator at the first `start`; a null password is generated. */
  readonly admin: { readonly email: string; readonly password: string | null } | null;
  /** Whether the first `start` makes and runs the sample. */
  readonly sample: boolean;
};

/** How template code is contained, and what it may use (docs/security.md). */
export type ExecutorConfig = {
  readonly isolation: 'sandbox' | 'auto' | 'none';
  /** The executor host's account; null: one that the worker chooses. */
  readonly user: string | null;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly cores: number;
  readonly cpuSeconds: number;
  readonly processes: number;
  readonly openFiles: number;
  readonly paths: readonly string[];
  readonly denied: readonly string[];
  readonly providerMirror: string | null;
  readonly providerNetworkMirror: string | null;
  readonly providersDirect: boolean;
};

/** How often something may be asked; 0: as often as anybody likes. */
export type LimitsConfig = {
  /** Requests a minute. */
  readonly requests: { readonly perPrincipal: number; readonly perAddress: number };
  /** Wrong guesses in so many milliseconds. */
  readonly guesses: { readonly perAccount: number; readonly perAddress: number; readonly windowMs: number };
};

export type TemporalConfig = {
  readonly address: string;
  readonly namespace: string;
  /** In the shape that the Temporal SDK's connections take. */
  readonly tls?: {
    readonly serverNameOverride?: string;
    readonly serverRootCACertificate?: Buffer;
    readonly clientCertPair?: { readonly crt: Buffer; readonly key: Buffer };
  };
  readonly apiKey?: string;
};

/** What `start` knows before it has started the services that are not given: those are null. */
export type StartConfig = Omit<Config, 'databaseUrl' | 'temporal'> & {
  readonly databaseUrl: string | null;
  readonly temporal: Omit<TemporalConfig, 'address'> & { readonly address: string | null };
};

type Environment = Readonly<Record<string, string | undefined>>;
type Values = { [Name in keyof typeof settings]: z.output<(typeof settings)[Name]['schema']> | null };

/** One clear sentence for each setting that is missing or wrong; the values themselves are never repeated. */
export class ConfigurationError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}

/**
 * Reads every setting from the environment. An empty variable counts as not set.
 * @throws ConfigurationError naming every bad setting at once
 */
export function loadConfig(environment: Environment = process.env): Config {
  const problems: string[] = [];
  const { databaseUrl, temporal, ...rest } = readSettings(environment, problems);
  const isReported = (name: string) => problems.some((problem) => problem.startsWith(`${name} `));
  if (databaseUrl === null && !isReported('DATABASE_URL')) {
    problems.push(missing('DATABASE_URL', 'the URL of a PostgreSQL database'));
  }
  if (temporal.address === null && !isReported('TEMPORAL_ADDRESS')) {
    problems.push(missing('TEMPORAL_ADDRESS', 'host:port of a Temporal server'));
  }
  if (problems.length > 0 || databaseUrl === null || temporal.address === null) throw new ConfigurationError(problems);
  return { ...rest, databaseUrl, temporal: { ...temporal, address: temporal.address } };
}

/** The same for `start`, which embeds what neither `DATABASE_URL` nor `TEMPORAL_ADDRESS` names. */
export function loadStartConfig(environment: Environment = process.env): StartConfig {
  const problems: string[] = [];
  const config = readSettings(environment, problems);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return config;
}

/** The little that `migrate` needs. @throws ConfigurationError */
export function loadDatabaseConfig(environment: Environment = process.env): { readonly databaseUrl: string } {
  const problems: string[] = [];
  const name = 'DATABASE_URL';
  const { [name]: given, [`${name}_FILE`]: path } = environment;
  const { [name]: databaseUrl } = parseAll(
    readSecretFiles({ [name]: given, [`${name}_FILE`]: path }, problems),
    problems,
  );
  if (databaseUrl === null && problems.length === 0) problems.push(missing(name, 'the URL of a PostgreSQL database'));
  if (databaseUrl === null) throw new ConfigurationError(problems);
  return { databaseUrl };
}

/** The directory of data, which `start` needs before there is a key ring. */
export function readDataDir(environment: Environment = process.env): string {
  return resolve(environment['COORDINATOR_DATA_DIR'] || settings.COORDINATOR_DATA_DIR.default);
}

/** Where the generated key ring of the embedded default is kept. */
export function secretKeysPath(dataDir: string): string {
  return join(dataDir, 'secret-keys');
}

function readSettings(given: Environment, problems: string[]): StartConfig {
  const environment = readSecretFiles(given, problems);
  const values = parseAll(environment, problems);
  checkCombinations(values, problems);
  const adminHost = values.COORDINATOR_ADMIN_HOST ?? '';
  const dataDir = readDataDir(environment);
  const email = values.COORDINATOR_ADMIN_EMAIL;
  return {
    host: values.COORDINATOR_HOST ?? '',
    port: values.COORDINATOR_PORT ?? 0,
    adminHost,
    adminPort: values.COORDINATOR_ADMIN_PORT ?? 0,
    baseUrl: values.COORDINATOR_BASE_URL,
    dataDir,
    user: values.COORDINATOR_USER,
    secretKeys: values.COORDINATOR_SECRET_KEYS ?? readKeyFile(dataDir, problems),
    databaseUrl: values.DATABASE_URL,
    databasePoolSize: values.COORDINATOR_DATABASE_POOL ?? 1,
    temporal: composeTemporal(values),
    bootstrap: { enabled: values.ENABLE_ADMIN_BOOTSTRAP ?? false, token: values.ADMIN_BOOTSTRAP_TOKEN },
    metrics: {
      enabled: values.METRICS_ENABLED ?? isLoopback(adminHost),
      bearerToken: values.METRICS_BEARER_TOKEN,
    },
    worker: {
      pools: values.WORKER_POOLS ?? [],
      concurrency: values.WORKER_CONCURRENCY ?? fittingConcurrency(values.WORKER_POOLS?.length ?? 1),
      drainSeconds: values.WORKER_DRAIN_SECONDS ?? 0,
    },
    auditRetentionDays: values.AUDIT_RETENTION_DAYS,
    logLevel: values.LOG_LEVEL ?? 'info',
    outbound: parseOutboundPolicy(values.COORDINATOR_OUTBOUND_ALLOW ?? []),
    limits: composeLimits(values),
    trustedProxies: values.COORDINATOR_TRUSTED_PROXIES ?? [],
    executor: composeExecutor(values),
    admin: email === null ? null : { email, password: values.COORDINATOR_ADMIN_PASSWORD },
    sample: values.COORDINATOR_SAMPLE ?? true,
  };
}

function composeExecutor(values: Values): ExecutorConfig {
  const mebibyte = 1024 * 1024;
  const mirror = values.COORDINATOR_PROVIDER_MIRROR;
  const networkMirror = values.COORDINATOR_PROVIDER_NETWORK_MIRROR;
  return {
    isolation: values.COORDINATOR_EXECUTOR_ISOLATION ?? 'sandbox',
    user: values.COORDINATOR_EXECUTOR_USER,
    memoryBytes: (values.COORDINATOR_EXECUTOR_MEMORY_MB ?? 0) * mebibyte,
    // What is written is kept in memory, so there is never more of it.
    diskBytes:
      Math.min(values.COORDINATOR_EXECUTOR_DISK_MB ?? 0, values.COORDINATOR_EXECUTOR_MEMORY_MB ?? 0) * mebibyte,
    cores: values.COORDINATOR_EXECUTOR_CPUS ?? Math.max(1, Math.floor(availableParallelism() / 2)),
    cpuSeconds: values.COORDINATOR_EXECUTOR_CPU_SECONDS ?? 0,
    processes: values.COORDINATOR_EXECUTOR_PROCESSES ?? 0,
    openFiles: values.COORDINATOR_EXECUTOR_OPEN_FILES ?? 0,
    paths: values.COORDINATOR_EXECUTOR_PATHS ?? [],
    denied: values.COORDINATOR_EXECUTOR_DENIED ?? [],
    providerMirror: mirror,
    providerNetworkMirror: networkMirror,
    providersDirect: values.COORDINATOR_PROVIDER_DIRECT ?? (mirror === null && networkMirror === null),
  };
}

function parseAll(environment: Environment, problems: string[]): Values {
  const values = Object.entries(settings).map(([name, setting]) => {
    const given = environment[name]?.trim() || setting.default;
    if (given === null) return [name, null];
    const result = setting.schema.safeParse(given);
    if (!result.success) problems.push(`${name} ${result.error.issues[0]?.message ?? 'is not valid'}.`);
    return [name, result.success ? result.data : null];
  });
  return Object.fromEntries(values);
}

/** Settings that mean something only together: [the one given, the one it needs, why]. */
const companions = [
  ['ENABLE_ADMIN_BOOTSTRAP', 'ADMIN_BOOTSTRAP_TOKEN', 'the token that the bootstrap request must present'],
  ['COORDINATOR_ADMIN_PASSWORD', 'COORDINATOR_ADMIN_EMAIL', 'the e-mail address that the password belongs to'],
  ['TEMPORAL_TLS_CLIENT_CERT_PATH', 'TEMPORAL_TLS_CLIENT_KEY_PATH', "the client certificate's private key"],
  ['TEMPORAL_TLS_CLIENT_KEY_PATH', 'TEMPORAL_TLS_CLIENT_CERT_PATH', "the private key's certificate"],
] as const;

function checkCombinations(values: Values, problems: string[]): void {
  for (const [given, needed, meaning] of companions) {
    const isGiven = values[given] !== null && values[given] !== false;
    const isReported = problems.some((problem) => problem.startsWith(`${needed} `));
    if (isGiven && values[needed] === null && !isReported) {
      problems.push(`${needed} is missing: ${given} is set, so give ${meaning}.`);
    }
  }
}

function composeLimits(values: Values): LimitsConfig {
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

function composeTemporal(values: Values): StartConfig['temporal'] {
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

function readKeyFile(dataDir: string, problems: string[]): readonly SecretKey[] {
  if (problems.some((problem) => problem.startsWith('COORDINATOR_SECRET_KEYS '))) return [];
  const path = secretKeysPath(dataDir);
  if (!existsSync(path)) {
    problems.push(missing('COORDINATOR_SECRET_KEYS', 'the key ring as id:base64, newest first'));
    return [];
  }
  const result = anyText.pipe(secretKeys).safeParse(readFileSync(path, 'utf8').trim());
  if (!result.success) problems.push(`The file ${path} ${result.error.issues[0]?.message ?? 'is not valid'}.`);
  return result.success ? result.data : [];
}

function missing(name: string, content: string): string {
  return `${name} is missing: give ${content} (only \`start\` makes its own).`;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
