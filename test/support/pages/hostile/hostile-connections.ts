import { required } from '../answers.ts';
import type { People } from '../people.ts';
import { longWord, savedName } from './texts.ts';

/** Adds a connection whose name attacks the pages that show it, with many long names of variables. @returns its id */
export async function addHostileConnection({ owner }: People, teamId: string): Promise<string> {
  const variables = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [
      `V${index}_${longWord(60)
        .toUpperCase()
        .replaceAll(/[^A-Z]/g, 'X')}`,
      'secret',
    ]),
  );
  const body = { name: savedName(), kind: 'generic', team_id: teamId, credentials: { variables } };
  return required(await owner.post('/admin/connections', body), 201).id;
}
