import type { ModuleSource } from '#domain/connections/module-sources/model.ts';
import type { WireRequest } from '../protocol/request-schema.ts';
import type { Redactor } from '../redaction/redaction.ts';

/** Redacts from now on what a request gives as secret. */
export function learnRequestSecrets(request: WireRequest, redactor: Redactor): void {
  const { variables, sensitiveVariables, environment, environmentFiles = [], moduleSources = [] } = request;
  for (const name of sensitiveVariables) redactor.learn(variables[name] ?? null);
  for (const { value, sensitive, hidden = null } of environment) {
    if (sensitive) redactor.learn(value);
    redactor.learn(hidden);
  }
  for (const { text } of environmentFiles) redactor.learn(text);
  for (const source of moduleSources) for (const secret of secretsOf(source)) redactor.learn(secret);
}

function secretsOf(source: ModuleSource): string[] {
  if (source.kind === 'registry') return [source.token];
  const { credential } = source;
  if (credential.kind === 'ssh_key') return [credential.privateKey];
  const login = Buffer.from(`${credential.username}:${credential.password}`).toString('base64');
  return [credential.password, login];
}
