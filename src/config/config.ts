import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { composeConfig } from './compose-config.ts';
import type { Config, StartConfig } from './config-types.ts';
import type { SecretKey } from './config-values.ts';
import { anyText, secretKeys } from './config-values.ts';
import { type Environment, hasProblem, parseSetting, parseSettings } from './parse-settings.ts';
import { readSecretFiles } from './secret-files.ts';
import { settings } from './settings.ts';

export type { Config, ExecutorConfig, LimitsConfig, StartConfig, TemporalConfig } from './config-types.ts';
/** The table of settings; docs/configuration.md is generated from it. */
export { settings };

/** Names every setting that is missing or invalid, one sentence each. The sentences never repeat a value. */
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
 * @throws ConfigurationError naming every invalid setting at once
 */
export function loadConfig(environment: Environment = process.env): Config {
  const problems: string[] = [];
  const { databaseUrl, temporal, ...rest } = readConfig(environment, problems);
  if (databaseUrl === null && !hasProblem(problems, 'DATABASE_URL')) {
    problems.push(missing('DATABASE_URL', 'the URL of a PostgreSQL database'));
  }
  if (temporal.address === null && !hasProblem(problems, 'TEMPORAL_ADDRESS')) {
    problems.push(missing('TEMPORAL_ADDRESS', 'host:port of a Temporal server'));
  }
  if (problems.length > 0 || databaseUrl === null || temporal.address === null) throw new ConfigurationError(problems);
  return { ...rest, databaseUrl, temporal: { ...temporal, address: temporal.address } };
}

/** `loadConfig` for `start`, which embeds PostgreSQL without `DATABASE_URL`, and Temporal without `TEMPORAL_ADDRESS`. */
export function loadStartConfig(environment: Environment = process.env): StartConfig {
  const problems: string[] = [];
  const config = readConfig(environment, problems);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return config;
}

/**
 * `loadConfig` for `admin`, which needs no Temporal server. Without `DATABASE_URL`, it uses the database that `start` embeds.
 * @param findEmbedded finds the URL of that database by the data directory; null if `start` is not running there
 */
export function loadAdminConfig(
  findEmbedded: (dataDir: string) => string | null,
  environment: Environment = process.env,
): StartConfig & { readonly databaseUrl: string } {
  const problems: string[] = [];
  const config = readConfig(environment, problems);
  const isInvalid = hasProblem(problems, 'DATABASE_URL');
  const databaseUrl = config.databaseUrl ?? (isInvalid ? null : findEmbedded(config.dataDir));
  if (databaseUrl === null && !isInvalid) {
    problems.push(
      `DATABASE_URL is missing, and \`start\` is not running with the data directory ${config.dataDir}: start it, or set DATABASE_URL to the URL of a PostgreSQL database.`,
    );
  }
  if (problems.length > 0 || databaseUrl === null) throw new ConfigurationError(problems);
  return { ...config, databaseUrl };
}

/** Reads only what `migrate` needs. @throws ConfigurationError */
export function loadDatabaseConfig(environment: Environment = process.env): { readonly databaseUrl: string } {
  const problems: string[] = [];
  const name = 'DATABASE_URL';
  const { [name]: given, [`${name}_FILE`]: path } = environment;
  const databaseUrl = parseSetting(
    name,
    readSecretFiles({ [name]: given, [`${name}_FILE`]: path }, problems),
    problems,
  );
  if (databaseUrl === null && problems.length === 0) problems.push(missing(name, 'the URL of a PostgreSQL database'));
  if (databaseUrl === null) throw new ConfigurationError(problems);
  return { databaseUrl };
}

/** The data directory as an absolute path. `start` needs it before it has generated a key ring. */
export function readDataDir(environment: Environment = process.env): string {
  return resolve(environment['COORDINATOR_DATA_DIR'] || settings.COORDINATOR_DATA_DIR.default);
}

/** The default directory for tools that an operator adds to those on the search path. */
export function defaultToolsDirectory(dataDir: string): string {
  return join(dataDir, 'tools');
}

/**
 * The directory that the command `tools` fills and workers read. The command reads only this setting, so it needs no key ring and no
 * database.
 * @throws ConfigurationError
 */
export function readToolsDirectory(environment: Environment = process.env): string {
  const problems: string[] = [];
  const directory = parseSetting('COORDINATOR_TOOLS_DIRECTORY', environment, problems);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return directory ?? defaultToolsDirectory(readDataDir(environment));
}

/** The file in which `start` stores the key ring that it generated. */
export function secretKeysPath(dataDir: string): string {
  return join(dataDir, 'secret-keys');
}

/** The directory of code that the processes of this service have compiled or bundled, and load at their next start. */
export function codeCachePath(dataDir: string): string {
  return join(dataDir, 'cache');
}

function readConfig(given: Environment, problems: string[]): StartConfig {
  const environment = readSecretFiles(given, problems);
  const values = parseSettings(environment, problems);
  const dataDir = readDataDir(environment);
  return {
    ...composeConfig(values),
    dataDir,
    secretKeys: values.COORDINATOR_SECRET_KEYS ?? readKeyFile(dataDir, problems),
  };
}

function readKeyFile(dataDir: string, problems: string[]): readonly SecretKey[] {
  if (hasProblem(problems, 'COORDINATOR_SECRET_KEYS')) return [];
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
  return `${name} is missing: set it to ${content} (only \`start\` works without it).`;
}
