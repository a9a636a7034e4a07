import { describe, expect, it } from 'vitest'
import { readSkillHead } from './skill-head.ts'
import { packSkill } from './skill-package.ts'

function read(front: string) {
  return readSkillHead(packSkill([{ path: 'SKILL.md', bytes: Buffer.from(`---\n${front}\n---\n\n# Title\n\nText.\n`) }]))
}

const head = (front: string) => read(`name: shell-sorter\n${front}`).head

describe('the front matter of a skill', () => {
  it('is read as published skills write it', () => {
    expect(
      read('name: pdf-tools\ndescription: "Fill forms: all of them. Say \\"PDF\\"."\nlicense: Proprietary. LICENSE.txt has complete terms'),
    ).toMatchObject({
      head: {
        name: 'pdf-tools',
        description: 'Fill forms: all of them. Say "PDF".',
        license: 'Proprietary. LICENSE.txt has complete terms',
      },
      body: '# Title\n\nText.',
    })
    expect(head('description: Use when: the person has shells. # a comment').description).toBe('Use when: the person has shells.')
    expect(head("description: 'It''s small'").description).toBe("It's small")
    expect(head('description: >-\n  Sorts shells\n  by size.\n\n  Slowly.').description).toBe('Sorts shells by size.\nSlowly.')
    expect(head('description: |\n  Sorts shells\n    by size.').description).toBe('Sorts shells\n  by size.')
    expect(head("description: |-\n  Sorts shells.\n  SKIP: `grep -rE '\\b(a|b)\\b'` finds none.").description).toBe(
      "Sorts shells.\nSKIP: `grep -rE '\\b(a|b)\\b'` finds none.",
    )
    expect(read('name: sorter # lower case (e.g., my-sorter)\ndescription: x').head.name).toBe('sorter')
    expect(head(`description: ${'x'.repeat(1_076)}`).description).toHaveLength(1_076)
    expect(head('description: Sorts shells\n  by size.').description).toBe('Sorts shells by size.')
  })

  it('names tools with spaces, commas or as a list', () => {
    const tools = ['Bash(git add:*)', 'Read']
    for (const text of [
      'Bash(git add:*) Read',
      'Bash(git add:*), Read',
      '\n  - Bash(git add:*)\n  - Read',
      '[Bash(git add:*), "Read"]',
      '\n  [\n    Bash(git add:*), Read\n  ]',
    ])
      expect(head(`description: x\nallowed-tools: ${text}`).allowedTools).toEqual(tools)
  })

  it('may hold names that mean nothing here, and any YAML below them', () => {
    const { author, version } = head(
      'description: x\nhooks:\n  - a: &b [1, {c: d}]\n    e: *b\nmetadata:\n  author: Ada\n  deep:\n    author: Bo\n  version: "2.1"',
    )
    expect({ author, version }).toEqual({ author: 'Ada', version: '2.1' })
    expect(head('description: x\nmetadata: {"a": {"b": 1}}').author).toBe(null)
    expect(head('description: @Ada sorts.\nmetadata:\n  {\n    "a": { "b": ["c"] },\n  }').description).toBe('@Ada sorts.')
  })

  it.each([
    ['description: ""', 'skill_field_invalid'],
    [`description: ${'x'.repeat(4_001)}`, 'skill_field_invalid'],
    [`description: x\ncompatibility: ${'x'.repeat(501)}`, 'skill_field_invalid'],
    ['description: "open', 'skill_front_matter'],
    ['description: {a: b}', 'skill_field_invalid'],
    ['description: *alias', 'skill_front_matter'],
    ['description: x\n- y', 'skill_front_matter'],
    ['description:x', 'skill_front_matter'],
  ])('is refused with its place: %j', (front, code) => {
    expect(() => head(front)).toThrow(expect.objectContaining({ detail: expect.objectContaining({ code }) as object }) as Error)
  })

  it('shows nobody what they cannot see', () => {
    expect(head('description: Sorts\u200b shells\u{e0041}.').description).toBe('Sorts shells.')
  })
})
