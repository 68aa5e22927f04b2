import type { Access } from '#domain/shared/access/decide.ts';
import type { VariablePhase } from '#domain/variables/model.ts';
import type { ConnectionKind } from '../kinds/kinds.ts';

/** The maximum number of connections that a project or an environment binds. */
export const maxBindings = 50;

/** A connection that a template needs. */
export interface ConnectionNeed {
  readonly name: string;
  readonly kind: string;
}

/** A binding, as a request names it. */
export interface WantedBinding {
  readonly connectionId: string;
  readonly phases: readonly VariablePhase[];
}

/**
 * A connection that was bound when an attempt began. The plan also records the connections that only the apply gets: the apply is refused
 * if another connection is bound when it starts. The credentials themselves are not recorded.
 */
export interface UsedConnection {
  readonly isGiven: boolean;
  /** A digest that shows whether its settings have changed, such as the account of a cloud. */
  readonly configDigest: string;
  readonly name: string;
  readonly phase: VariablePhase;
  readonly attemptId: string;
  readonly connectionId: string;
  /** The name of the connection at that time. */
  readonly connection: string;
  readonly kind: ConnectionKind;
  readonly credentialRevision: number;
  readonly boundBy: string;
}

/**
 * The authority to bind connections to a project or an environment. Each use of a binding checks that the principal who made it still has
 * this authority.
 */
export function bindingAuthority(place: 'project' | 'environment') {
  return {
    anyOf: [`${place}:write`],
    allOf: ['connection:use'],
    scope: 'team',
    teamAction: 'team.metadata.write',
    hidden: 'not_found',
  } as const satisfies Partial<Access>;
}
