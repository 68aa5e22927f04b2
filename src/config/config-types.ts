import type { MailConfig } from '#domain/messages/mail/mail-server.ts';
import type { OutboundPolicy } from '#domain/shared/outbound/outbound-policy.ts';
import type { SecretKey } from './config-values.ts';

/** The configuration of a process of the service, read from its environment once, when it starts. */
export type Config = {
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  /** The origin that clients use; null: derived from the address that the service listens on. */
  readonly baseUrl: string | null;
  /** The origin in tokens of runs, as their issuer; null if it is not known, and no token is issued. */
  readonly issuer: string | null;
  /** For how many days a key signs these tokens. */
  readonly signingKeyDays: number;
  /** Absolute path. */
  readonly dataDir: string;
  /** The account that the service runs as when root starts it; null: root chooses an unused one. */
  readonly user: string | null;
  /** At least one key. The first one encrypts, and each of them decrypts. */
  readonly secretKeys: readonly SecretKey[];
  readonly databaseUrl: string;
  readonly databasePoolSize: number;
  readonly temporal: TemporalConfig;
  readonly bootstrap: { readonly enabled: boolean; readonly token: string | null };
  /** `workerPort`: the port on which a worker serves its metrics; null if it serves none. */
  readonly metrics: {
    readonly enabled: boolean;
    readonly bearerToken: string | null;
    readonly workerPort: number | null;
  };
  readonly worker: { readonly pools: readonly string[]; readonly concurrency: number; readonly drainSeconds: number };
  /** For how many days audit records are kept; null: forever. */
  readonly auditRetentionDays: number | null;
  /** For how many days scans of drift monitors, and findings that are resolved, are kept. */
  readonly driftRetention: { readonly scanDays: number; readonly findingDays: number };
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  /** The addresses to which the service may connect on behalf of its users, in addition to the public Internet. */
  readonly outbound: OutboundPolicy;
  /** The schemas in which restorations may search for rows of plugin resources, and the URL with the role that reads them. */
  readonly pluginRoots: { readonly schemas: readonly string[]; readonly databaseUrl: string | null };
  /** The server that sends e-mail; null if there is none. */
  readonly mail: MailConfig | null;
  readonly limits: LimitsConfig;
  /** Addresses and CIDR ranges of proxies whose forwarded headers are trusted. */
  readonly trustedProxies: readonly string[];
  readonly executor: ExecutorConfig;
  /** The administrator that the first `start` creates. If the password is null, one is generated. */
  readonly admin: { readonly email: string; readonly password: string | null } | null;
  /** Whether the first `start` creates and runs the sample. */
  readonly sample: boolean;
};

/** How template code is isolated, and how much an attempt may use (docs/security.md). */
export type ExecutorConfig = {
  readonly isolation: 'sandbox' | 'auto' | 'none';
  /** The account of the executor host; null if the worker chooses one. */
  readonly user: string | null;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly cores: number;
  readonly cpuSeconds: number;
  readonly processes: number;
  readonly openFiles: number;
  readonly paths: readonly string[];
  readonly denied: readonly string[];
  /** Null: `tools` in the data directory. */
  readonly toolsDirectory: string | null;
  readonly providerMirror: string | null;
  readonly providerNetworkMirror: string | null;
  readonly providersDirect: boolean;
  readonly providerStoreBytes: number;
};

/** Rate limits; 0: no limit. */
export type LimitsConfig = {
  /** Requests a minute. */
  readonly requests: { readonly perPrincipal: number; readonly perAddress: number };
  /** Wrong passwords or tokens within `windowMs` milliseconds. */
  readonly guesses: { readonly perAccount: number; readonly perAddress: number; readonly windowMs: number };
};

export type TemporalConfig = {
  readonly address: string;
  readonly namespace: string;
  /** In the form of the Temporal SDK's connection options. */
  readonly tls?: {
    readonly serverNameOverride?: string;
    readonly serverRootCACertificate?: Buffer;
    readonly clientCertPair?: { readonly crt: Buffer; readonly key: Buffer };
  };
  readonly apiKey?: string;
};

/** The configuration of `start`. If a server has no address, its member is null, and `start` starts it. */
export type StartConfig = Omit<Config, 'databaseUrl' | 'temporal'> & {
  readonly databaseUrl: string | null;
  readonly temporal: Omit<TemporalConfig, 'address'> & { readonly address: string | null };
};
