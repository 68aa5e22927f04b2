import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as attachments from './attachment-operations.ts';
import * as sets from './operations.ts';
import { attachForm } from './pages/attach-form.ts';
import { variableSetForms } from './pages/forms.ts';
import { showVariableSets } from './pages/list-page.ts';
import { showVariableSet } from './pages/set-page.ts';
import { variablesOfSetForms } from './pages/variable-forms.ts';
import * as variables from './variable-operations.ts';

export const area: Area = {
  operations: [sets, variables, attachments],
  tags: {
    variable_sets: 'Variables that several projects and environments share.',
    variable_set_variables: 'Variables and secrets of a set.',
    variable_set_attachments: 'Where a variable set gives its variables.',
  },
  pages: [
    page('GET', pages.variableSets, showVariableSets),
    ...variableSetForms,
    page('GET', pages.variableSet, showVariableSet),
    attachForm,
    ...variablesOfSetForms,
  ],
  navigation: [
    {
      group: 'Configuration',
      label: 'Variable sets',
      icon: 'variable',
      path: pages.variableSets,
      operation: 'variable_sets.list',
    },
  ],
};
