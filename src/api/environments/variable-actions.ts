import { actionsOf } from '#api/pipeline/actions.ts';
import type { EnvironmentTarget } from '#domain/environments/store.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';

/** A variable to change in its environment. Changing a secret requires the permission to manage secrets. */
export interface VariableFacts extends EnvironmentTarget {
  readonly concernsSecret: boolean;
}

/** What a caller may do with a variable. */
export const variableActions = actionsOf<VariableFacts>()({
  set: { operation: 'environment_variables.set', findRefusal: findArchivedRefusal },
  remove: { operation: 'environment_variables.remove', findRefusal: findArchivedRefusal },
});
