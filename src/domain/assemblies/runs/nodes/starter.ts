import type { Em } from '#database/database.ts';
import { findKeyById } from '#domain/identity/api-keys/store.ts';
import { type Credential, noCredential, type Principal } from '#domain/shared/access/principal.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import type { AssemblyRun } from '../../entity.ts';
import { nodeReasons } from '../../model.ts';
import { NodeEndsUnrun } from './node-inputs.ts';

/**
 * Whoever started or last resumed an assembly run, as they are now, with the API key that they used: the command that admits a node's
 * run checks it again when it commits. A session only proves who somebody is, so the run goes on after it has ended.
 * @throws NodeEndsUnrun if they are gone or disabled, or their key has ended
 */
export async function findStarter(em: Em, run: AssemblyRun): Promise<Principal> {
  const principal = (await readPrincipals(em, [run.authorityId])).get(run.authorityId);
  if (!principal?.enabled) throw notPermitted();
  return answeredFor({ ...principal, credential: await findCredential(em, run) }, run);
}

/** The run of a node records the person who answered for the assembly run when it was started or resumed. */
export function answeredFor(principal: Principal, { responsibleUserId }: AssemblyRun): Principal {
  return { ...principal, responsibleUserId: responsibleUserId ?? null };
}

/** Keys are never deleted, so what is no key is a session. */
async function findCredential(em: Em, { authorityId, credentialId }: AssemblyRun): Promise<Credential> {
  const id = credentialId ?? authorityId;
  const key = await findKeyById(em, id);
  if (!key) return noCredential(id);
  if (key.state !== 'active') throw notPermitted(keyEnded[key.state]);
  return { type: 'api_key', id, issuedBy: key.issuedBy };
}

const keyEnded = {
  revoked:
    'the API key with which the assembly run was started or resumed was revoked: resume the run with another credential',
  expired:
    'the API key with which the assembly run was started or resumed has expired: resume the run with another credential',
} as const;

export function notPermitted(message: string = nodeReasons.not_permitted): NodeEndsUnrun {
  return new NodeEndsUnrun('failed', 'not_permitted', message);
}
