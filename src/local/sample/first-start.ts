import { randomInt } from 'node:crypto';
import type { StartConfig } from '#config';
import { isDone, markDone } from '../data-directory.ts';
import { describeError } from '../errors.ts';
import { runOnce } from '../run-once.ts';
import type { Stack } from '../stack.ts';
import { SampleClient } from './client.ts';
import { runSample } from './sample.ts';

type Report = (line: string) => void;
type Administrator = { readonly email: string; readonly password: string; readonly isGenerated: boolean };

const defaultEmail = 'admin@example.com';
/** Without the characters that are easily taken for each other. */
const passwordAlphabet = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/**
 * Tells how to use the service that is ready now. At the first start on a data directory, it makes the administrator and
 * the sample before, unless the specified bootstrap is to be used instead. What goes wrong with those is told, and keeps
 * nobody from using the service.
 */
export async function greet(config: StartConfig, stack: Stack, program: string, report: Report): Promise<void> {
  let curl = curlFor(config, stack);
  try {
    curl = (await makeFirstContent(config, stack, program, report)) ?? curl;
  } catch (error) {
    console.error(`The service runs, but its first content could not be made: ${describeError(error)}`);
  }
  console.log(`\n  Ready  ${stack.publicUrl}   (API reference: ${stack.publicUrl}/api/docs)`);
  console.log(`  Try    ${curl}`);
  console.log('  Stop   Ctrl-C\n');
}

/** @returns a command that shows what was made; null when there was nothing to make */
async function makeFirstContent(
  config: StartConfig,
  stack: Stack,
  program: string,
  report: Report,
): Promise<string | null> {
  const administrator = planAdministrator(config);
  if (administrator === null) return null;
  const isMade = await runOnce(
    'Making the administrator',
    [program, 'admin', 'create', '--email', administrator.email, '--name', 'Administrator'],
    stack.environment,
    administrator.password,
  );
  markDone(config.dataDir, 'administrator');
  // The database is another's and has its users: nobody's password is known here.
  if (!isMade) return null;
  printAdministrator(administrator);
  const client = await SampleClient.signIn(stack.url, administrator.email, administrator.password);
  let path = '/api/v1/auth/whoami';
  if (config.sample && !isDone(config.dataDir, 'sample')) {
    markDone(config.dataDir, 'sample');
    path = await runSample(client, report);
  }
  return `curl -H 'Authorization: Bearer ${client.token}' '${stack.url}${path}'`;
}

/** Whom to make at this start; null: nobody. */
function planAdministrator(config: StartConfig): Administrator | null {
  const isLeftToBootstrap = config.bootstrap.enabled || (config.databaseUrl !== null && config.admin === null);
  if (isLeftToBootstrap || isDone(config.dataDir, 'administrator')) return null;
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
  console.log(isGenerated ? `  Password       ${password}   (shown this once)\n` : '  Password       as given\n');
}

function curlFor(config: StartConfig, stack: Stack): string {
  if (!config.bootstrap.enabled) return `curl ${stack.url}/readyz`;
  const body = `'{"email":"${defaultEmail}","name":"Administrator","password":"…"}'`;
  return `curl -H "X-Service-Bootstrap-Token: $ADMIN_BOOTSTRAP_TOKEN" -H 'Content-Type: application/json' -d ${body} ${stack.url}/bootstrap/admin`;
}
