import { required } from '../answers.ts';
import type { People } from '../people.ts';
import { hostileName, hostileText, longWord, savedName } from './texts.ts';

interface Place {
  readonly organizationId: string;
  readonly teamId: string;
  readonly projectId: string;
  readonly environmentId: string;
}

/** Adds variable sets whose every text attacks the pages that show it. Returns the id of one; another wins over its variables. */
export async function addHostileVariableSets({ owner }: People, place: Place): Promise<string> {
  const make = async (name: string, of: object, attached: object): Promise<string> => {
    const body = { name, description: hostileText.slice(0, 1000), ...of };
    const { id } = required(await owner.post('/variable-sets', body), 201);
    const variables = [
      { name: longWord(128), value: hostileText, category: 'env' },
      { name: 'structure', value: { [hostileName()]: [hostileText] }, category: 'template' },
      { name: 'secret', value: hostileText, category: 'template', sensitive: true },
    ];
    required(await owner.put(`/variable-sets/${id}/variables`, { variables }), 200);
    const places = { project_ids: [], environment_ids: [], ...attached };
    required(await owner.put(`/variable-sets/${id}/attachments`, places), 200);
    return id;
  };
  const { organizationId: organization_id, teamId: team_id, projectId, environmentId } = place;
  await make(longWord(), { organization_id }, { environment_ids: [environmentId] });
  const everywhere = { project_ids: [projectId], environment_ids: [environmentId] };
  return make(savedName(), { team_id }, everywhere);
}
