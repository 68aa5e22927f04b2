import type { Area } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as comparisons from './comparison-operations.ts';
import * as dependencies from './dependency-operations.ts';
import * as follow from './follow-operations.ts';
import * as instances from './operations.ts';
import { registerInstancePages } from './pages/register.ts';
import * as readers from './reader-operations.ts';
import * as resources from './resource-operations.ts';
import * as states from './state-operations.ts';
import * as tools from './tool-operations.ts';

export const area: Area = {
  operations: [instances, dependencies, readers, follow, tools, states, comparisons, resources],
  tags: {
    instances: 'What is deployed, with its resources, state versions and outputs.',
    resources: 'What all instances hold.',
  },
  pages: [registerInstancePages],
  navigation: [
    { group: 'Workloads', label: 'Instances', icon: 'boxes', path: pages.instances, operation: 'instances.list' },
  ],
};
