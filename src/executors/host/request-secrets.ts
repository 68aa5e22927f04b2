import type { ModuleSource } from '#domain/connections/module-sources/model.ts';
import { learnEarlierSecrets } from '#domain/shared/redaction/earlier-secrets.ts';
import type { Redactor } from '#domain/shared/redaction/redactor.ts';
import type { WireRequest } from '../protocol/request-schema.ts';

/** The line that the log gets if everything is redacted. */
export const allHiddenNote =
  'everything is redacted, because the state may hold more secrets of earlier runs than are looked for: an apply of the whole instance ends this';

/** Redacts from now on all secrets of a request. */
export function learnRequestSecrets(request: WireRequest, redactor: Redactor): void {
  const { variables, sensitiveVariables, environment, environmentFiles = [], moduleSources = [] } = request;
  const { earlierSecrets } = request;
  for (const name of sensitiveVariables) redactor.learn(variables[name] ?? null);
  for (const { value, sensitive, hidden = null } of environment) {
    if (sensitive) redactor.learn(value);
    redactor.learn(hidden);
  }
  for (const { text } of environmentFiles) redactor.learn(text);
  for (const source of moduleSources) for (const secret of secretsOf(source)) redactor.learn(secret);
  // Earlier secrets come last, so that they use only the capacity that is left.
  if (earlierSecrets) learnEarlierSecrets(redactor, earlierSecrets);
}

function secretsOf(source: ModuleSource): string[] {
  if (source.kind === 'registry') return [source.token];
  const { credential } = source;
  if (credential.kind === 'ssh_key') return [credential.privateKey];
  const login = Buffer.from(`${credential.username}:${credential.password}`).toString('base64');
  return [credential.password, login];
}
