import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { type Action, type Refusal, toAction } from '#domain/shared/actions.ts';
import {
  explainDenial,
  explainPermission,
  forCaller,
  isProtected,
  type ProtectedOperation,
} from './access/authorization.ts';
import type { Operation } from './operation.ts';
import { actionsView } from './schemas.ts';

/** An action on one resource, as its area declares it. */
export interface ActionDeclaration<Name extends string> {
  readonly name: Name;
  /** The id of the operation that carries the action out. */
  readonly operation: string;
  /** The resource that the action is about; undefined if there is none. */
  readonly target: Ownership | undefined;
  /** The parameters of the operation's path, for an operation that requires less of callers whom its path names (`ownAccess`). */
  readonly params?: Readonly<Record<string, string>>;
  /** Checks the area's own rule on the action, as things are now. It is called only if the caller has the authority. */
  readonly findRefusal: () => RuleAgainst;
}

/** Why a rule refuses an action; null if it allows the action. */
export type RuleAgainst = Pick<Refusal, 'message'> | null;

/** The caller to describe actions for, and the operations that carry the actions out. */
export interface ActionContext {
  readonly operations: readonly Operation[];
  readonly principal: Principal;
}

/** Describes what the caller may do with one resource, in the order in which operations decide: authority, then rules. */
export function describeActions<Name extends string>(
  { operations, principal }: ActionContext,
  declarations: readonly ActionDeclaration<Name>[],
): Action<Name>[] {
  return declarations.map(({ name, operation, target, params, findRefusal }) => {
    const called = forCaller(findProtected(operations, operation), principal, params);
    return toAction(name, explainDenial(called, principal, target) ?? findRefusal()?.message ?? null);
  });
}

/**
 * Describes whether the caller has the authority for an operation on at least one of these targets. Without targets: whether the caller has
 * it for any target at all. The reason is that of the first target. The rules of the operation's area are not checked.
 */
export function describeAuthority(
  operation: ProtectedOperation,
  principal: Principal,
  targets: readonly (Ownership | undefined)[],
): Action {
  const [reason = null, ...others] =
    targets.length === 0
      ? [explainPermission(operation, principal)]
      : targets.map((target) => explainDenial(operation, principal, target));
  return toAction(operation.id, others.includes(null) ? null : reason);
}

/** An action of a kind of resource: the operation that carries it out, and the area's rule against it, if there is one. */
export interface ActionRule<Target> {
  readonly operation: string;
  /** The parameters of the operation's path, for an operation that requires less of callers whom its path names (`ownAccess`). */
  readonly params?: (target: Target) => Readonly<Record<string, string>>;
  readonly findRefusal?: (target: Target, caller: Principal) => RuleAgainst;
}

/**
 * The actions, by name, of a kind of resource that is itself the target of all their operations. `view` is the schema of the resource's
 * `actions`, and `describe` describes what the caller may do with one resource. A `Target` has every fact that the rules need.
 */
export function actionsOf<Target extends Ownership>() {
  return <Name extends string>(rules: Readonly<Record<Name, ActionRule<Target>>>) => {
    const names = Object.keys(rules) as [Name, ...Name[]];
    return {
      view: actionsView(names),
      describe: (context: ActionContext, target: Target): Action<Name>[] =>
        describeActions(
          context,
          names.map((name) => {
            const { operation, params, findRefusal } = rules[name];
            return {
              name,
              operation,
              target,
              ...(params && { params: params(target) }),
              findRefusal: () => findRefusal?.(target, context.principal) ?? null,
            };
          }),
        ),
    };
  };
}

/** @throws Error if no operation has this id, or if it is public: the action is declared wrongly */
export function findProtected(operations: readonly Operation[], id: string): ProtectedOperation {
  const operation = operations.find((each) => each.id === id);
  if (!operation || !isProtected(operation)) throw new Error(`there is no protected operation ${id}`);
  return operation;
}
