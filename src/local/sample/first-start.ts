import { randomInt } from 'node:crypto';
import type { StartConfig } from '#config';
import { isDone, markDone, writeAuthorization } from '../data-directory.ts';
import { describeError } from '../errors.ts';
import { runSubcommand } from '../run-subcommand.ts';
import type { Stack } from '../stack.ts';
import { runSampleProcess } from './process.ts';

type Report = (line: string) => void;
type Administrator = { readonly email: string; readonly password: string; readonly isGenerated: boolean };

const defaultEmail = 'admin@example.com';
/** Without characters that look alike. */
const passwordAlphabet = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/**
 * Prints how to use the service, which is ready now. Before that, the first start on a data directory creates the administrator and the
 * sample, unless the configuration enables bootstrap. If they cannot be created, the failure is reported, and the service keeps running.
 * `onUsable` is called once the administrator can sign in, or could not be created.
 */
export async function announceService(
  config: StartConfig,
  stack: Stack,
  program: string,
  report: Report,
  onUsable: () => void,
): Promise<void> {
  let curl = curlFor(config, stack);
  try {
    const administrator = await createAdministrator(config, stack, program).finally(onUsable);
    if (administrator !== null) curl = await signIn(config, stack, administrator, report);
  } catch (error) {
    console.error(
      `The service is running, but creating the administrator or the sample failed: ${describeError(error)}`,
    );
  }
  console.log(`\n  Ready  ${stack.publicUrl}   (API reference: ${stack.publicUrl}/api/docs)`);
  console.log(`  Try    ${curl}`);
  console.log('  Stop   Ctrl-C\n');
}

/** @returns the administrator; null if none is to be created, or if the database already has users */
async function createAdministrator(config: StartConfig, stack: Stack, program: string): Promise<Administrator | null> {
  const administrator = planAdministrator(config);
  if (administrator === null) return null;
  const isCreated = await runSubcommand(
    'Creating the administrator',
    [program, 'admin', 'create', '--email', administrator.email, '--name', 'Administrator'],
    stack.environment,
    administrator.password,
  );
  markDone(config.dataDir, 'administrator');
  // The database already has users, and their passwords are unknown.
  if (!isCreated) return null;
  printAdministrator(administrator);
  return administrator;
}

/** Makes the sample if it is wanted. @returns a command that shows what was created */
async function signIn(
  config: StartConfig,
  stack: Stack,
  { email, password }: Administrator,
  report: Report,
): Promise<string> {
  const sample = config.sample && !isDone(config.dataDir, 'sample');
  if (sample) {
    markDone(config.dataDir, 'sample');
    report(`Creating a sample, which takes a minute or two. Meanwhile, you can sign in at ${stack.publicUrl}.`);
  }
  const { token, path } = await runSampleProcess({ url: stack.url, email, password, sample }, report);
  return `curl -H '@${writeAuthorization(config.dataDir, token)}' '${stack.url}${path}'`;
}

/** The administrator to create at this start; null if none. */
function planAdministrator(config: StartConfig): Administrator | null {
  const isCreatedOtherwise = config.bootstrap.enabled || (config.databaseUrl !== null && config.admin === null);
  if (isCreatedOtherwise || isDone(config.dataDir, 'administrator')) return null;
  const given = config.admin?.password ?? null;
  return {
    email: config.admin?.email ?? defaultEmail,
    password: given ?? generatePassword(),
    isGenerated: given === null,
  };
}

/** 20 characters, about 115 bits. */
function generatePassword(): string {
  return Array.from({ length: 20 }, () => passwordAlphabet[randomInt(passwordAlphabet.length)]).join('');
}

function printAdministrator({ email, password, isGenerated }: Administrator): void {
  console.log(`\n  Administrator  ${email}`);
  console.log(isGenerated ? `  Password       ${password}   (shown only once)\n` : '  Password       as given\n');
}

function curlFor(config: StartConfig, stack: Stack): string {
  if (!config.bootstrap.enabled) return `curl ${stack.url}/readyz`;
  const body = `'{"email":"${defaultEmail}","name":"Administrator","password":"…"}'`;
  return `curl -H "X-Service-Bootstrap-Token: $ADMIN_BOOTSTRAP_TOKEN" -H 'Content-Type: application/json' -d ${body} ${stack.url}/bootstrap/admin`;
}
