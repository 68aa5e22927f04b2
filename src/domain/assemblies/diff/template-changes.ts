import type { ChosenTemplate } from '../entity.ts';
import type { AssemblyDiff, FieldChange, NodeChange } from './diff.ts';

/** The template versions that a publication chose for the nodes, by key. Nodes without an entry are not compared. */
export type ChosenTemplates = Readonly<Record<string, Pick<ChosenTemplate, 'templateId' | 'version'>>>;

/**
 * Adds the template versions that differ to the changes of the nodes that both sides have: "latest" in both specs means another template
 * version after its next release.
 */
export function withTemplateChanges(diff: AssemblyDiff, before: ChosenTemplates, after: ChosenTemplates): AssemblyDiff {
  const moved = new Map<string, FieldChange[]>();
  for (const key of Object.keys(before)) {
    const fields = Object.hasOwn(after, key) ? compare(before[key], after[key]) : [];
    if (fields.length > 0) moved.set(key, fields);
  }
  const changed = diff.nodes.map((node): NodeChange => {
    const fields = moved.get(node.key) ?? [];
    moved.delete(node.key);
    return { ...node, fields: [...node.fields, ...fields] };
  });
  const others = [...moved].map(([key, fields]): NodeChange => ({ key, change: 'changed', fields }));
  return { ...diff, nodes: [...changed, ...others] };
}

function compare(before: ChosenTemplates[string] | undefined, after: ChosenTemplates[string] | undefined) {
  const fields: FieldChange[] = [];
  if (!before || !after) return fields;
  if (before.templateId !== after.templateId)
    fields.push({ path: '/template_id', before: before.templateId, after: after.templateId });
  if (before.version !== after.version)
    fields.push({ path: '/template_version', before: before.version, after: after.version });
  return fields;
}
