import type { Area } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as diffs from './diff-operations.ts';
import * as drafts from './draft-operations.ts';
import * as graphs from './graph/graph-operations.ts';
import * as nodes from './node-operations.ts';
import * as assemblies from './operations.ts';
import { registerAssemblyPages } from './pages/register.ts';
import * as runs from './run-operations.ts';
import * as versions from './version-operations.ts';

export const area: Area = {
  operations: [assemblies, graphs, drafts, versions, runs, nodes, diffs],
  tags: {
    assemblies: 'Graphs of templates that are run together: drafts, versions, comparisons.',
  },
  pages: [registerAssemblyPages],
  navigation: [
    { group: 'Workloads', label: 'Assemblies', icon: 'workflow', path: pages.assemblies, operation: 'assemblies.list' },
  ],
};
