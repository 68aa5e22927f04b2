import type { Em } from '#database/database.ts';
import { AuthorityEnded, findStoredPrincipal, type LostAuthority } from '#domain/identity/stored-authority.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { AssemblyRun } from '../../entity.ts';
import { nodeReasons } from '../../model.ts';
import { NodeEndsUnrun } from './node-inputs.ts';

/**
 * The present state of the principal who started or last resumed an assembly run, with the API key that they used.
 * @throws NodeEndsUnrun if the principal was deleted or disabled, or the key is no longer valid
 */
export async function findStarter(em: Em, run: AssemblyRun): Promise<Principal> {
  try {
    return await findStoredPrincipal(em, run);
  } catch (error) {
    throw error instanceof AuthorityEnded ? notPermitted(lostStarter[error.reason]) : error;
  }
}

const lostStarter: Readonly<Record<LostAuthority, string>> = {
  gone: nodeReasons.not_permitted,
  disabled: nodeReasons.not_permitted,
  key_revoked:
    'the API key with which the assembly run was started or resumed was revoked: resume the run with another credential',
  key_expired:
    'the API key with which the assembly run was started or resumed has expired: resume the run with another credential',
};

export function notPermitted(message: string = nodeReasons.not_permitted): NodeEndsUnrun {
  return new NodeEndsUnrun('failed', 'not_permitted', message);
}
