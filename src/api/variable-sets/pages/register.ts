import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { registerAttachForm } from './attach-form.ts';
import { registerVariableSetForms } from './forms.ts';
import { showVariableSets } from './list-page.ts';
import { showVariableSet } from './set-page.ts';
import { registerVariablesOfSetForms } from './variable-forms.ts';

/** Adds the pages of variable sets. */
export function registerVariableSetPages(addPage: AddPage): void {
  addPage('GET', pages.variableSets, showVariableSets);
  registerVariableSetForms(addPage);
  addPage('GET', pages.variableSet, showVariableSet);
  registerAttachForm(addPage);
  registerVariablesOfSetForms(addPage);
}
