import type { Area } from '#api/web/declarations/area.ts';
import * as search from './operations.ts';
import { searchPage } from './pages.ts';

export const area: Area = {
  operations: [search],
  tags: {
    search: 'Finding things by id or name.',
  },
  pages: [searchPage],
};
