import type { Area } from '#api/web/declarations/area.ts';
import * as teams from './operations.ts';
import { teamPages } from './pages/team-page.ts';

export const area: Area = {
  operations: [teams],
  tags: {
    teams: 'Teams own projects, templates and service accounts.',
  },
  pages: [...teamPages],
};
