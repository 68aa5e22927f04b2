import type { Area } from '#api/web/declarations/area.ts';
import { registerTeamSetup } from './pages/register.ts';

export const area: Area = {
  pages: [registerTeamSetup],
};
