import { addVariableForms } from '#api/variables/pages/forms.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { get, remove, set } from '../variable-operations.ts';
import { readSet, type ShownSet, setCrumbs, setPath } from './labels.ts';

/** Adds the forms that set and remove the variables of a set. */
export function registerVariablesOfSetForms(addPage: AddPage): void {
  addVariableForms<ShownSet>(addPage, {
    patterns: { add: pages.newVariableOfSet, change: pages.variableOfSet, remove: pages.deleteVariableOfSet },
    readHolder: readSet,
    readVariable: (visit, variable) => visit.read(get, variable),
    set: (visit, variable) => visit.run(set, variable),
    remove: (visit, variable) => visit.run(remove, variable),
    findRefusal: ({ actions }) => refusalOf(actions, 'replace_variables'),
    crumbs: setCrumbs,
    path: setPath,
  });
}
