import type { Area } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as attachments from './attachment-operations.ts';
import * as sets from './operations.ts';
import { registerVariableSetPages } from './pages/register.ts';
import * as variables from './variable-operations.ts';

export const area: Area = {
  operations: [sets, variables, attachments],
  tags: {
    variable_sets: 'Variables that several projects and environments share.',
    variable_set_variables: 'Variables and secrets of a set.',
    variable_set_attachments: 'Where a variable set gives its variables.',
  },
  pages: [registerVariableSetPages],
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
