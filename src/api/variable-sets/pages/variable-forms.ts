import { variableForms } from '#api/variables/pages/forms.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { pages } from '#api/web/paths.ts';
import { get, remove, set } from '../variable-operations.ts';
import { readSet, type ShownSet, setCrumbs, setPath } from './labels.ts';

/** The forms that set and remove the variables of a set. */
export const variablesOfSetForms = variableForms<ShownSet>({
  patterns: { add: pages.newVariableOfSet, change: pages.variableOfSet, remove: pages.deleteVariableOfSet },
  readHolder: readSet,
  readVariable: (visit, variable) => visit.read(get, variable),
  set: (visit, variable) => visit.run(set, variable),
  remove: (visit, variable) => visit.run(remove, variable),
  findRefusal: ({ actions }) => refusalOf(actions, 'replace_variables'),
  crumbs: setCrumbs,
  path: setPath,
});
