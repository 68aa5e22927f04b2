import type { Principal } from '#domain/shared/access/principal.ts';
import type { Command } from '#domain/shared/commands/command.ts';
import { auditedAction, requestFacts } from '../audit/auditing.ts';
import { demandedRevision } from '../headers/if-match.ts';
import type { CommandOperation } from '../operation.ts';
import type { Invocation, OperationInput } from './invocation.ts';
import { resolveNames } from './resource-names.ts';

/**
 * Converts a request into a command of the domain. Its key is bound to the text of the request and to its meaning, so a repetition may
 * leave out a default, name an organization by its id instead of a slug, or name the revision in its body instead of `If-Match`.
 */
export async function toCommand(
  invocation: Invocation<CommandOperation>,
  key: string | null,
  sentBody: unknown,
): Promise<Command> {
  const { operation, principal, input, request, services } = invocation;
  const names = key === null ? input.params : await resolveNames(services.orm.em.fork(), operation, input.params);
  const sentTag = request.headers['if-match'];
  return {
    key,
    caller: principal,
    operation: operation.id,
    audit: auditedAction(operation),
    target: input.params as Record<string, string>,
    input: sentBody,
    precondition: sentTag === undefined ? undefined : String(sentTag),
    // Exact bytes have no defaults. The pipeline has replaced them by their digest.
    resolved: {
      target: names,
      input: Buffer.isBuffer(input.body) ? sentBody : (input.body ?? {}),
      precondition: demandedRevision(operation, request.headers)?.toString(),
    },
    locks: locksOf(operation, principal, input),
    request: requestFacts(request),
  };
}

function locksOf(
  { locks = [] }: CommandOperation,
  principal: Principal,
  { params }: OperationInput,
): readonly string[] {
  return typeof locks === 'function' ? locks({ params, principal }) : locks;
}
