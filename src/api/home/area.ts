import type { Area } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import { startPage } from './pages.ts';

export const area: Area = {
  pages: [startPage],
  navigation: [{ group: null, label: 'Home', icon: 'house', path: pages.home, operation: 'runs.list' }],
};
