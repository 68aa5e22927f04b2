import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { registerPeopleStep } from './people-step.ts';
import { registerPlaceSteps } from './place-steps.ts';
import { showSetup } from './steps-view.ts';
import { registerTemplateStep } from './template-step.ts';

/** Adds the pages that set a new team up step by step. Each step sends one command of another area, whose rules decide. */
export function registerTeamSetup(addPage: AddPage): void {
  addPage('GET', pages.setUpTeam, showSetup);
  registerPeopleStep(addPage);
  registerPlaceSteps(addPage);
  registerTemplateStep(addPage);
}
