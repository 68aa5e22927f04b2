import type { z } from 'zod';
import { settings } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The value of every setting; null if it is not set and has no default, or if it is invalid. */
export type SettingValues = { [Name in keyof typeof settings]: z.output<(typeof settings)[Name]['schema']> | null };

/**
 * Parses every setting. An empty variable counts as not set.
 * @param problems receives one sentence for each setting that is invalid, or that another setting requires
 */
export function parseSettings(environment: Environment, problems: string[]): SettingValues {
  const values = parseEach(environment, problems);
  checkRequirements(values, problems);
  return values;
}

/** Parses one setting, without checking the settings that it requires. */
export function parseSetting<Name extends keyof typeof settings>(
  name: Name,
  environment: Environment,
  problems: string[],
): SettingValues[Name] {
  return parseEach({ [name]: environment[name] }, problems)[name];
}

function parseEach(environment: Environment, problems: string[]): SettingValues {
  const values = Object.entries(settings).map(([name, setting]) => {
    const given = environment[name]?.trim() || setting.default;
    if (given === null) return [name, null];
    const result = setting.schema.safeParse(given);
    if (!result.success) problems.push(`${name} ${result.error.issues[0]?.message ?? 'is not valid'}.`);
    return [name, result.success ? result.data : null];
  });
  return Object.fromEntries(values);
}

/** Settings that require another one: [the setting, the one it requires, what that one is]. */
const requirements = [
  ['ENABLE_ADMIN_BOOTSTRAP', 'ADMIN_BOOTSTRAP_TOKEN', 'the token that the bootstrap request must present'],
  ['COORDINATOR_ADMIN_PASSWORD', 'COORDINATOR_ADMIN_EMAIL', 'the e-mail address that the password belongs to'],
  ['TEMPORAL_TLS_CLIENT_CERT_PATH', 'TEMPORAL_TLS_CLIENT_KEY_PATH', "the client certificate's private key"],
  ['TEMPORAL_TLS_CLIENT_KEY_PATH', 'TEMPORAL_TLS_CLIENT_CERT_PATH', "the private key's certificate"],
  ['COORDINATOR_SMTP_URL', 'COORDINATOR_SMTP_FROM', 'the address that e-mail is sent from'],
  ['COORDINATOR_SMTP_URL', 'COORDINATOR_BASE_URL', 'the origin that the links in e-mail lead to'],
  ['COORDINATOR_SMTP_FROM', 'COORDINATOR_SMTP_URL', 'the server that sends e-mail'],
] as const;

function checkRequirements(values: SettingValues, problems: string[]): void {
  for (const [given, required, meaning] of requirements) {
    const isGiven = values[given] !== null && values[given] !== false;
    if (isGiven && values[required] === null && !hasProblem(problems, required)) {
      problems.push(`${required} is missing: ${given} is set, so give ${meaning}.`);
    }
  }
}

/** Whether one of the problems is about this setting. */
export function hasProblem(problems: readonly string[], name: string): boolean {
  return problems.some((problem) => problem.startsWith(`${name} `));
}
