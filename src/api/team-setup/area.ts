import type { Area } from '#api/web/area-declaration.ts';
import { registerTeamSetup } from './pages/register.ts';

export const area: Area = {
  pages: [registerTeamSetup],
};
