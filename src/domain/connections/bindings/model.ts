import type { Access } from '#domain/shared/access/decide.ts';
import type { VariablePhase } from '#domain/variables/model.ts';
import type { ConnectionKind } from '../kinds/kinds.ts';

/** How many connections a project or an environment binds. */
export const mostBindings = 50;

/** A connection that a template asks for. */
export interface ConnectionNeed {
  readonly name: string;
  readonly kind: string;
}

/** What a binding binds, as a request names it. */
export interface WantedBinding {
  readonly connectionId: string;
  readonly phases: readonly VariablePhase[];
}

/**
 * A connection that was bound for an attempt of a run. It names no credential, only how often they had been replaced. Not each is given: planning notes those for applying
 * as well, so that nothing is applied with another connection than the one that was bound for its plan.
 */
export interface UsedConnection {
  readonly isGiven: boolean;
  /** Tells whether its settings have changed, such as the account of a cloud. */
  readonly configDigest: string;
  readonly name: string;
  readonly phase: VariablePhase;
  readonly attemptId: string;
  readonly connectionId: string;
  /** What the connection was called. */
  readonly connection: string;
  readonly kind: ConnectionKind;
  readonly credentialRevision: number;
  readonly boundBy: string;
}

/** The authority to bind connections to a project or an environment. Each use of a binding demands that whoever made it still has it. */
export function bindingAuthority(place: 'project' | 'environment') {
  return {
    anyOf: [`${place}:write`],
    allOf: ['connection:use'],
    scope: 'team',
    teamAction: 'team.metadata.write',
    hidden: 'not_found',
  } as const satisfies Partial<Access>;
}
