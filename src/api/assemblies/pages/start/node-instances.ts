import { list as listInstances } from '#api/instances/operations.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderRunLink } from '#api/web/components/links/resource-links.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { readableNodes } from '#domain/assemblies/spec/draft-nodes.ts';
import { instanceOf } from '#domain/assemblies/spec/spec.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { AssemblyVisit, ShownVersion } from '../views.ts';

/** An instance that already exists where a node would deploy. */
export interface NodeInstance {
  readonly id: string;
  readonly name: string;
  readonly node: string;
  /** The run that deployed it last; null if unknown. */
  readonly runId: string | null;
  /** Whether another assembly, or a run outside of assemblies, deployed it last. */
  readonly isOfOthers: boolean;
}

/** How many pages of instances are searched. */
const maxPages = 20;

/** Finds the instances in an environment that a version's nodes would change, as far as the visitor may read them. */
export async function readNodeInstances(
  visit: AssemblyVisit,
  version: ShownVersion,
  environmentId: string,
): Promise<NodeInstance[]> {
  const nodes = Object.entries(readableNodes(version.spec as JsonValue));
  const missing = new Map(
    nodes.map(([key, node]) => [`${version.templates[key]?.template_id} ${instanceOf(key, node)}`, key]),
  );
  const found: NodeInstance[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < maxPages && missing.size > 0; page++) {
    const query: Record<string, string> = {
      environment_id: environmentId,
      limit: '200',
      ...(cursor !== null && { cursor }),
    };
    const { instances, next_cursor } = await visit.read(listInstances, { query });
    for (const instance of instances) {
      const { id, name, deployed_run_id: runId, deployed_by_assembly_id: assemblyId } = instance;
      const place = `${instance.template_id} ${name}`;
      const node = missing.get(place);
      const isEmpty = runId === null && instance.resource_count === 0;
      if (node !== undefined && !isEmpty)
        found.push({ id, name, node, runId, isOfOthers: assemblyId !== visit.params.id });
      missing.delete(place);
    }
    cursor = next_cursor;
    if (cursor === null) break;
  }
  return found;
}

/**
 * Lists the instances that the form's run would change or destroy although something else deployed them. For a destroy, lists everything
 * that it destroys.
 */
export function renderNodeInstances(instances: readonly NodeInstance[], isDestroy: boolean): Html | null {
  const others = instances.filter(({ isOfOthers }) => isOfOthers);
  const shown = isDestroy ? instances : others;
  if (shown.length === 0) return null;
  const rows = shown.map(({ id, name, node, runId, isOfOthers }) => {
    const by = isOfOthers
      ? html`: <strong>deployed by something else</strong>${runId === null ? null : html`, ${renderRunLink(runId)}`}`
      : null;
    return html`<li><a class="foreign" href="${pagePath(pages.instance, { id })}">${name}</a> (node <span class="mono foreign">${node}</span>)${by}</li>`;
  });
  const what = isDestroy
    ? 'This run destroys what these instances hold:'
    : 'These instances exist already, and this assembly did not deploy them. The run takes them over and changes them:';
  return html`<div class="notice notice-wait">${renderIcon('triangle-alert')}<div class="stack"><p>${what}</p><ul>${rows}</ul></div></div>
<input type="hidden" name="taken" value="${others.map(({ id }) => id).join(' ')}">`;
}

/** Whether the sent form did not show an instance of others that its run would change. */
export function hasUnseenInstance(instances: readonly NodeInstance[], taken: string): boolean {
  const shown = new Set(taken.split(' '));
  return instances.some(({ id, isOfOthers }) => isOfOthers && !shown.has(id));
}
