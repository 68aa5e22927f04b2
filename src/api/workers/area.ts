import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as workers from './operations.ts';
import { poolForms } from './pages/pool-forms.ts';
import { showPool, submitPool } from './pages/pools.ts';
import { workerPages } from './pages/worker.ts';
import { showWorkers } from './pages/workers.ts';
import * as pools from './pool-operations.ts';

export const area: Area = {
  operations: [workers, pools],
  tags: {
    worker_pools: 'Which runs which workers execute, and what their code may reach.',
    workers: 'The processes that execute runs.',
  },
  pages: [
    page('GET', pages.workers, showWorkers),
    ...workerPages,
    ...poolForms,
    page('GET', pages.workerPool, showPool),
    page('POST', pages.workerPool, submitPool),
  ],
  navigation: [
    { group: 'Configuration', label: 'Workers', icon: 'server', path: pages.workers, operation: 'workers.list' },
  ],
};
