import type { Em } from '#database/database.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { VariablePhase } from '#domain/variables/model.ts';
import { findBindingProblems } from '../bindings/binding-problems.ts';
import { type BindingPlace, type EffectiveBinding, phasesOf, readAllEffectiveBindings } from '../bindings/store.ts';
import { openCredentials } from '../envelope.ts';
import { git, toGitCredential } from '../kinds/git.ts';
import { registry } from '../kinds/registry.ts';
import type { ModuleSource } from './model.ts';

/** A source, and the binding that provides it. */
export interface BoundSource {
  readonly binding: EffectiveBinding;
  readonly source: ModuleSource;
}

/**
 * The private repositories and registries that an environment and its project bind, for the modules of its runs. The template need not name
 * the connections. A binding is ignored if its connection has moved to another owner, or if its binder has lost the authority to bind. If
 * two bindings have the same source, that of the environment takes precedence, then the first by name. `lock` holds a share lock on
 * bindings and connections until the commit.
 * @throws CredentialsUnavailable
 */
export async function readModuleSources(
  em: Em,
  keyRing: KeyRing,
  { place, phase, lock }: { readonly place: BindingPlace; readonly phase: VariablePhase; readonly lock: boolean },
): Promise<BoundSource[]> {
  const found = await readAllEffectiveBindings(em, place, lock);
  const problems = await findBindingProblems(em, place, found);
  const usable = found
    .filter(({ kind }) => kind === 'git' || kind === 'registry')
    .filter((binding) => isEffective(binding, found) && phasesOf(binding).includes(phase))
    .filter(({ id }) => (problems.get(id) ?? null) === null)
    .sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
  const byTarget = new Map<string, BoundSource>();
  for (const binding of usable) {
    const source = toSource(keyRing, binding);
    const target = source.kind === 'git' ? source.url.replace(/\/$/, '') : source.host;
    if (!byTarget.has(target)) byTarget.set(target, { binding, source });
  }
  return [...byTarget.values()];
}

/** Whether a binding is effective: the binding of an environment replaces that of its project with the same name. */
function isEffective({ name, environmentId }: EffectiveBinding, all: readonly EffectiveBinding[]): boolean {
  return environmentId !== null || !all.some((other) => other.name === name && other.environmentId !== null);
}

function rank({ environmentId }: EffectiveBinding): number {
  return environmentId === null ? 1 : 0;
}

function toSource(keyRing: KeyRing, binding: EffectiveBinding): ModuleSource {
  const { connectionId: id, credentialRevision, sealedKey, sealedCredentials, config } = binding;
  const credentials = openCredentials(keyRing, { id, credentialRevision, sealedKey, sealedCredentials });
  const identity = `${id}.${credentialRevision}`;
  if (binding.kind === 'registry') {
    const { token } = registry.credentials.parse(credentials);
    return { kind: 'registry', host: registry.config.parse(config).host, token, identity };
  }
  const { url } = git.config.parse(config);
  return { kind: 'git', url, credential: toGitCredential(git.credentials.parse(credentials)), identity };
}
