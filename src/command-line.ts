import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { type Config, ConfigurationError, loadAdminConfig, loadConfig, loadDatabaseConfig } from '#config';
import type { DatabaseSettings } from '#database/database.ts';
import type { LocalInstallation } from '#domain/identity/local-command.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import { findServiceAccount } from '#local/account/account.ts';
import { dropPrivileges } from '#local/account/privileges.ts';
import { describeError, StartError } from '#local/errors.ts';
import { receiveSettings } from '#local/following-settings.ts';
import { explainListenError } from '#local/ports.ts';
import { alreadyDoneExitCode } from '#local/run-subcommand.ts';
import { runService } from '#local/service-process.ts';

const help = `Usage: node src/main.ts <command>

  start          runs everything on this machine: embedded PostgreSQL and Temporal (unless DATABASE_URL and
                 TEMPORAL_ADDRESS are set), the API and a worker
  api            runs the API and its pages
  worker         runs a worker, which executes runs
  migrate        applies the migrations that the database lacks
  tools list | add | remove
                 lists, adds and removes versions of OpenTofu and Terraform for the workers of this machine
  healthcheck api | worker
                 checks the process of this container; exits with 1 and says why if it is not healthy
  admin create   creates the first user, an administrator; reads the password from standard input
                 --email <address> [--name <name>]
  admin recover  sets a new password for an administrator and ends their sessions; reads the password
                 from standard input
                 --email <address>
  admin rotate-keys [--check]
                 encrypts everything in the database anew with the first of COORDINATOR_SECRET_KEYS, while
                 the service runs; --check only counts what needs another key
  admin plugin-reader --role <name>
                 makes the role that reads the tables of plugins in COORDINATOR_PLUGIN_SCHEMAS, or gives it
                 another password; reads the password from standard input
                 All use the database of a running start, unless DATABASE_URL is set.

Settings come from the environment: docs/configuration.md lists them.`;

type Command = (given: string[], program: string) => Promise<number>;

/** Each returns the exit code. Each imports only what it needs, so that `start` uses little memory. */
const commands: Readonly<Record<string, Command>> = {
  start: async (given, program) => {
    refuseArguments(given);
    const { start } = await import('#local/start.ts');
    return start(program);
  },
  api: async (given) => {
    refuseArguments(given);
    return runService(async () => {
      const { runApi } = await import('#api/main.ts');
      await receiveSettings();
      const config = loadConfig();
      const account = findServiceAccount(config.dataDir, config.user);
      const api = await runApi(config);
      dropPrivileges(account);
      return api;
    });
  },
  worker: async (given) => {
    refuseArguments(given);
    return runService(async () => {
      const { runWorker } = await import('#worker/main.ts');
      await receiveSettings();
      return runWorker(loadConfig());
    });
  },
  migrate: async (given) => {
    refuseArguments(given);
    const config = loadDatabaseConfig();
    const { migrate } = await import('#migrate');
    await migrate(config);
    return 0;
  },
  tools: async (given) => {
    const { runToolsCommand } = await import('#worker/tools/command.ts');
    return runToolsCommand(given);
  },
  healthcheck: async ([process, ...given]) => {
    if (process !== 'api' && process !== 'worker') throw new UsageError('healthcheck needs an argument: api or worker');
    refuseArguments(given);
    const { findHealthProblem } = await import('./healthcheck.ts');
    const problem = await findHealthProblem(process);
    if (problem !== null) console.error(problem);
    return problem === null ? 0 : 1;
  },
  admin: async ([subcommand, ...given]) => {
    if (subcommand === 'create') return createAdministrator(given);
    if (subcommand === 'recover') return recoverAdministrator(given);
    if (subcommand === 'rotate-keys') return rotateKeys(given);
    if (subcommand === 'plugin-reader') return makePluginReader(given);
    const problem = subcommand === undefined ? 'admin needs an argument' : `Unknown command: admin ${subcommand}`;
    throw new UsageError(`${problem}: create, recover, rotate-keys or plugin-reader`);
  },
};

class UsageError extends Error {}

async function createAdministrator(given: string[]): Promise<number> {
  const { email, name } = parseOptions(given, { email: { type: 'string' }, name: { type: 'string' } });
  if (email === undefined) throw new UsageError('admin create needs --email');
  const config = await findInstallation();
  const password = await readPassword();
  const { createFirstAdministrator } = await import('#domain/identity/bootstrap.ts');
  const { Conflict } = await import('#domain/shared/errors.ts');
  try {
    await withInstallation(config, (installation) =>
      createFirstAdministrator(installation, { email, name: name ?? 'Administrator', password }),
    );
    console.log(`Created the administrator ${email}.`);
    return 0;
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    console.error(`${describeError(error)}.`);
    return alreadyDoneExitCode;
  }
}

async function recoverAdministrator(given: string[]): Promise<number> {
  const { email } = parseOptions(given, { email: { type: 'string' } });
  if (email === undefined) throw new UsageError('admin recover needs --email');
  const config = await findInstallation();
  const password = await readPassword();
  const { recoverAdministrator: recover } = await import('#domain/identity/recovery.ts');
  await withInstallation(config, (installation) => recover(installation, { email, password }));
  console.log(`Set the new password of ${email} and ended all sessions of this user.`);
  return 0;
}

async function makePluginReader(given: string[]): Promise<number> {
  const { role } = parseOptions(given, { role: { type: 'string' } });
  if (role === undefined) throw new UsageError('admin plugin-reader needs --role');
  const { databaseUrl, pluginRoots } = await findInstallation();
  const password = await readPassword();
  const { createPluginReader } = await import('#database/plugin-reader.ts');
  await createPluginReader(databaseUrl, { role, password, schemas: pluginRoots.schemas });
  console.log(`The role ${role} may read the tables of plugins.`);
  return 0;
}

/** Exits with 1 if something still needs another key than the first. */
async function rotateKeys(given: string[]): Promise<number> {
  const isCheck = given[0] === '--check';
  refuseArguments(isCheck ? given.slice(1) : given);
  const config = await findInstallation();
  const { countAllOld, rotateAllKeys } = await import('#domain/rotate-keys.ts');
  const report = (line: string) => console.log(line);
  let left = 0;
  await withInstallation(config, async (installation) => {
    left = await (isCheck ? countAllOld : rotateAllKeys)(installation, report);
  });
  console.log(left === 0 ? 'Nothing in the database needs an old key.' : `${left} values need an old key.`);
  return left === 0 ? 0 : 1;
}

/** The settings of the installation: its own database, or the one that a running `start` embeds. */
async function findInstallation(): Promise<DatabaseSettings & Pick<Config, 'secretKeys' | 'pluginRoots'>> {
  const { findRunningDatabase } = await import('#local/postgres/address.ts');
  return loadAdminConfig(findRunningDatabase);
}

async function withInstallation(
  config: DatabaseSettings & Pick<Config, 'secretKeys'>,
  work: (installation: LocalInstallation) => Promise<unknown>,
): Promise<void> {
  const { withDatabase } = await import('#open-database');
  const { KeyRing } = await import('#domain/shared/secrets.ts');
  await withDatabase(config, (orm) => work({ orm, keyRing: new KeyRing(config.secretKeys) }));
}

async function readPassword(): Promise<string> {
  const { Password } = await import('#domain/identity/passwords/rules.ts');
  const password = Password.safeParse((await text(process.stdin)).replace(/\r?\n$/, ''));
  if (password.success) return password.data;
  throw new UsageError(`The password on standard input ${password.error.issues[0]?.message}`);
}

function parseOptions<Name extends string>(
  given: string[],
  options: Record<Name, { type: 'string' }>,
): { [N in Name]?: string | undefined } {
  try {
    return parseArgs({ args: given, options, strict: true }).values;
  } catch (error) {
    throw new UsageError(describeError(error));
  }
}

function refuseArguments(given: string[]): void {
  if (given.length > 0) throw new UsageError(`Unexpected argument: ${given[0]}`);
}

async function run([name, ...given]: string[], program: string): Promise<number> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help' || given.includes('--help')) {
    (name === undefined ? console.error : console.log)(help);
    return name === undefined ? 2 : 0;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw new UsageError(`Unknown command: ${name}`);
  return command(given, program);
}

/** Prints one sentence for a problem that the user can fix. For any other error, prints its stack as well. */
function explain(error: unknown): number {
  if (error instanceof UsageError) {
    console.error(`${error.message} (--help lists the commands).`);
    return 2;
  }
  const isKnown = [StartError, ConfigurationError, ServiceError].some((kind) => error instanceof kind);
  const known = isKnown ? (error as Error) : explainListen(error);
  if (known === null && error instanceof Error) console.error(error.stack);
  console.error((known?.message ?? describeError(error)).trim());
  return 1;
}

function explainListen(error: unknown): StartError | null {
  const isListenError = error instanceof Error && 'address' in error && 'port' in error;
  if (!isListenError) return null;
  const isAdmin = String(error.port) === (process.env['COORDINATOR_ADMIN_PORT'] || '9090');
  const setting = isAdmin ? 'COORDINATOR_ADMIN_PORT' : 'COORDINATOR_PORT';
  return explainListenError(error, String(error.address), Number(error.port), setting);
}

/** Runs the command on this process's command line and ends the process. `program` is the file that child processes run. */
export async function runCommandLine(program: string): Promise<never> {
  denyWritingByOthers();
  process.exitCode = await run(process.argv.slice(2), program).catch(explain);
  // A pool or timer that a failed start left open must not keep the process alive.
  process.exit();
}

/**
 * Whatever the user's umask is, other users get no permission to write the files of this service and of its child processes. Some of them
 * contain code or state that the service reads back.
 */
function denyWritingByOthers(): void {
  process.umask(process.umask(0o022) | 0o022);
}
