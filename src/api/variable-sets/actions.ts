import { actionsOf } from '#api/pipeline/actions.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';
import type { VariableSetTarget } from '#domain/variable-sets/store.ts';

/** What a caller may do with a variable set. */
export const variableSetActions = actionsOf<VariableSetTarget>()({
  update: { operation: 'variable_sets.update', findRefusal: findArchivedRefusal },
  replace_variables: { operation: 'variable_set_variables.replace', findRefusal: findArchivedRefusal },
  replace_attachments: { operation: 'variable_set_attachments.replace', findRefusal: findArchivedRefusal },
  delete: { operation: 'variable_sets.delete' },
});

/** What a caller may do with one variable of a set. */
export const variableOfSetActions = actionsOf<VariableSetTarget>()({
  set: { operation: 'variable_set_variables.set', findRefusal: findArchivedRefusal },
  remove: { operation: 'variable_set_variables.remove', findRefusal: findArchivedRefusal },
});
