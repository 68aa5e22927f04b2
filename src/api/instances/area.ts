import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as comparisons from './comparison-operations.ts';
import * as dependencies from './dependency-operations.ts';
import * as follow from './follow-operations.ts';
import * as instances from './operations.ts';
import { destructionForm } from './pages/destroy.ts';
import { followForm } from './pages/follow.ts';
import { instanceForms } from './pages/forms.ts';
import { showInstance } from './pages/instance.ts';
import { showInstances, showResources } from './pages/lists.ts';
import { readersForm } from './pages/sharing.ts';
import { stateImportPages } from './pages/state-import.ts';
import { showComparison, showStateVersion } from './pages/states.ts';
import { toolSwitchForm } from './pages/tool-switch.ts';
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
  pages: [
    page('GET', pages.instances, showInstances),
    page('GET', pages.resources, showResources),
    ...instanceForms,
    destructionForm,
    page('GET', pages.instance, showInstance),
    page('GET', pages.stateVersion, showStateVersion),
    page('GET', pages.compareStates, showComparison),
    ...stateImportPages,
    toolSwitchForm,
    readersForm,
    followForm,
  ],
  navigation: [
    { group: 'Workloads', label: 'Instances', icon: 'boxes', path: pages.instances, operation: 'instances.list' },
  ],
};
