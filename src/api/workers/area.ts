import type { Area } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as workers from './operations.ts';
import { registerWorkerPages } from './pages/register.ts';
import * as pools from './pool-operations.ts';

export const area: Area = {
  operations: [workers, pools],
  tags: {
    worker_pools: 'Which runs which workers execute, and what their code may reach.',
    workers: 'The processes that execute runs.',
  },
  pages: [registerWorkerPages],
  navigation: [
    { group: 'Configuration', label: 'Workers', icon: 'server', path: pages.workers, operation: 'workers.list' },
  ],
};
