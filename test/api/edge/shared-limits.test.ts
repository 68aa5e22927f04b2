import { describe, expect, it } from 'vitest';
import { StreamLimit } from '#api/edge/limits/stream-limit.ts';
import { UploadLimit } from '#api/edge/limits/upload-limit.ts';

const member = (person: string) => ({ person, owner: 'acme' });
const outsider = { person: 'ben', owner: 'globex' };

describe('the limit of simultaneous large bodies', () => {
  it('leaves an upload to others while people of one organization use all of theirs', () => {
    const limit = new UploadLimit(3);
    const ends = ['ana', 'amy'].map((person) => limit.begin(member(person)));
    expect(() => limit.begin(member('abe'))).toThrow(/people of your organization send 2 already/);
    expect(() => limit.begin(member('ana'))).toThrow(/you are sending another one already/);
    limit.begin(outsider);
    expect(() => limit.begin({ person: 'cid', owner: 'cid' })).toThrow(/the server takes 3 at once/);
    for (const end of [...ends, ...ends]) end();
    expect(() => limit.begin(member('abe'))).not.toThrow();
  });
});

describe('the limit of simultaneous streams', () => {
  it('counts the open streams of a person and of an organization until each ends', () => {
    const limit = new StreamLimit({ person: 2, owner: 3 });
    const end = limit.open(member('ana'));
    limit.open(member('ana'));
    expect(() => limit.open(member('ana'))).toThrow(/you have 2 open/);
    limit.open(member('amy'));
    expect(() => limit.open(member('abe'))).toThrow(/your organization has 3 open/);
    limit.open(outsider);
    end();
    expect(() => limit.open(member('abe'))).not.toThrow();
  });
});
