import { list as listEnvironments } from '#api/environments/operations.ts';
import { abbreviatePolicy, type ListedEnvironment } from '#api/environments/pages/labels.ts';
import type { ShownMember } from '#api/members/pages/member-level.ts';
import { list as listMembers } from '#api/members/team-operations.ts';
import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { list as listProjects } from '#api/projects/operations.ts';
import { list as listTemplates } from '#api/registry/template-operations.ts';
import { readTeam, type TeamSubject, type TeamVisit, teamParams } from '#api/teams/pages/team-frame.ts';
import type { IconName } from '#api/web/components/icon.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import { pluralize } from '#api/web/text.ts';

type Project = EncodedAnswerOf<typeof listProjects.responses>['projects'][number];
type Template = EncodedAnswerOf<typeof listTemplates.responses>['templates'][number];

/** A team, and the things that its set-up has created. The steps store nothing else, so people can leave them and come back. */
export interface Setup {
  readonly team: TeamSubject;
  readonly members: readonly ShownMember[];
  readonly projects: readonly Project[];
  readonly environments: readonly ListedEnvironment[];
  readonly templates: readonly Template[];
}

const limit = '200';

export async function readSetup(visit: TeamVisit): Promise<Setup> {
  const team = await readTeam(visit);
  const query = { team_id: team.id, limit };
  const [{ members }, { projects }, { environments }, { templates }] = await Promise.all([
    visit.read(listMembers, { params: teamParams(team), query: { limit } }),
    visit.read(listProjects, { query }),
    visit.read(listEnvironments, { query }),
    visit.read(listTemplates, { query }),
  ]);
  return { team, members, projects, environments, templates };
}

/** A step of the set-up. */
export interface Step {
  readonly label: string;
  readonly icon: IconName;
  readonly page: (typeof pages)[`setUpTeam${'People' | 'Project' | 'Environment' | 'Policy' | 'Template'}`];
  /** The purpose of the step. */
  readonly purpose: string;
  /** Describes briefly what is done; null if nothing is. */
  readonly summarize: (setup: Setup) => string | null;
}

/** The steps of the set-up, in their order. */
export const steps = {
  people: {
    label: 'People',
    icon: 'users',
    page: pages.setUpTeamPeople,
    purpose:
      'Who works in the team. For approvals by a second person, at least one other member must be an admin or owner.',
    summarize: ({ members }) => (members.length > 1 ? pluralize(members.length, 'member') : null),
  },
  project: {
    label: 'Project',
    icon: 'folder',
    page: pages.setUpTeamProject,
    purpose: 'A project contains the environments of one product, such as a network or an application.',
    summarize: ({ projects }) => listNames(projects),
  },
  environment: {
    label: 'Environment',
    icon: 'layers',
    page: pages.setUpTeamEnvironment,
    purpose: 'Templates are deployed into environments, such as development, staging and production.',
    summarize: (setup) => listNames(setup.environments.map((each) => ({ name: placeName(setup, each) }))),
  },
  policy: {
    label: 'Approval policy',
    icon: 'hand',
    page: pages.setUpTeamPolicy,
    purpose: 'Which runs in an environment need an approval, and from how many people.',
    summarize: (setup) =>
      listNames(
        setup.environments.map((each) => ({
          name: `${placeName(setup, each)}: ${abbreviatePolicy(each.approval_policy)}`,
        })),
      ),
  },
  template: {
    label: 'First template',
    icon: 'book-open',
    page: pages.setUpTeamTemplate,
    purpose: 'A template contains the code that runs deploy. You publish its first version next.',
    summarize: ({ templates }) => listNames(templates),
  },
} as const satisfies Record<string, Step>;

export type StepKey = keyof typeof steps;
export const stepKeys = Object.keys(steps) as [StepKey, ...StepKey[]];

export function stepPath({ team }: Setup, key: StepKey): LocalPath {
  return pagePath(steps[key].page, teamParams(team));
}

/** The step after another one, or the overview after the last one. */
export function pathAfter(setup: Setup, key: StepKey): { readonly label: string; readonly path: LocalPath } {
  const next = stepKeys[stepKeys.indexOf(key) + 1];
  if (next === undefined) return { label: 'Finish', path: pagePath(pages.setUpTeam, teamParams(setup.team)) };
  return { label: `Next: ${steps[next].label.toLowerCase()}`, path: stepPath(setup, next) };
}

/** The name of an environment with its project, because names repeat in different projects. */
export function placeName(
  { projects }: Setup,
  { project_id: id, name }: Pick<ListedEnvironment, 'project_id' | 'name'>,
): string {
  const project = projects.find((each) => each.id === id);
  return project ? `${project.name} / ${name}` : name;
}

const maxNames = 3;

function listNames(things: readonly { readonly name: string }[]): string | null {
  if (things.length === 0) return null;
  const more = things.length - maxNames;
  const names = things.slice(0, maxNames).map(({ name }) => name);
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
