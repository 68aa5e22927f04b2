import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { type Action, type Refusal, toAction } from '#domain/shared/actions.ts';
import { describeDenial, type Guarded } from './authorization.ts';
import { isPublic, type Operation } from './operation.ts';

/** An action on one resource, as its area declares it. */
export interface ActionDeclaration<Name extends string> {
  readonly name: Name;
  /** The id of the operation that does it. */
  readonly operation: string;
  /** What that operation would find as its target; undefined: nothing. */
  readonly target: Ownership | undefined;
  /** The rule of the area that refuses it now; asked only where the caller's authority suffices. */
  readonly findRefusal: () => Refusal | null;
}

/** Who asks for the actions, and the operations that would carry them out. */
export interface Asker {
  readonly operations: readonly Operation[];
  readonly principal: Principal;
}

/** The actions of one resource for its caller, decided as their operations decide: authority first, then the area's rules. */
export function describeActions<Name extends string>(
  { operations, principal }: Asker,
  declarations: readonly ActionDeclaration<Name>[],
): Action<Name>[] {
  return declarations.map(({ name, operation, target, findRefusal }) =>
    toAction(
      name,
      describeDenial(findGuarded(operations, operation), principal, target) ?? findRefusal()?.message ?? null,
    ),
  );
}

/** @throws Error where there is no such operation, or it demands nothing of its caller: a defect of the declaration */
function findGuarded(operations: readonly Operation[], id: string): Guarded {
  const operation = operations.find((each) => each.id === id);
  if (!operation || isPublic(operation.access)) throw new Error(`no operation ${id} decides about its caller`);
  return operation as Guarded;
}
