import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { readDocstring } from '../../docs/site/reference/docstring.mjs'
import { undocumented, withoutExample } from '../../docs/site/reference/gaps.mjs'
import { type Member, type Reference, readReference } from '../../docs/site/reference/model.mjs'
import { type Page, referencePages } from '../../docs/site/reference/pages.mjs'
import { markdownAnchors, markdownLinks } from '../support/docs/blocks.ts'
import { root } from '../support/docs/texts.ts'
import { wrong } from '../support/words.ts'

/** The reference is read once in a process, which takes seconds: these tests are in that of the site, which has its pages. */
describe('the reference', () => {
  let reference: Reference
  let pages: Page[]

  beforeAll(() => {
    reference = readReference()
    pages = referencePages(reference)
  })

  test('every public name, and every member of one, has a docstring', () => {
    expect(reference.names.length).toBeGreaterThan(600)
    expect(undocumented(reference)).toEqual([])
  })

  test('every function, class and plugin has an example in its docstring', () => {
    expect(withoutExample(reference)).toEqual([])
  })

  test('the docstrings of public names keep to the page of words', () => {
    const visit = ({ file, line, name, doc, members }: Member): string[] => {
      const text = [doc.text, ...doc.throws, ...doc.params, ...doc.returns, ...doc.deprecated]
        .join(' ')
        .replace(/\s+/g, ' ')
      const found = wrong.filter(([pattern]) => pattern.test(text))
      return [...found.map(([, instead]) => `${file}:${line} ${name}: write ${instead}`), ...members.flatMap(visit)]
    }
    expect([...new Set(reference.names.flatMap(visit))]).toEqual([])
  })

  test('every {@link} of a docstring leads somewhere', () => {
    const broken = reference.links.filter(({ isBroken }) => isBroken)
    expect(broken.map(({ file, line, text }) => `${file}:${line} ${text}`)).toEqual([])
  })

  describe('the pages of the reference', () => {
    test('are an index, the areas of the kernel and one for each plugin', () => {
      const paths = pages.map(({ path }) => path)
      expect(paths[0]).toBe('README.md')
      expect(paths).toEqual(
        expect.arrayContaining(['server.md', 'router.md', 'request.md', 'response.md', 'errors.md']),
      )
      const entryPoints = new Set(reference.names.flatMap((name) => name.entryPoints.map(({ specifier }) => specifier)))
      const plugins = [...entryPoints].flatMap(
        (entryPoint) => /^framework\/plugins\/(?!testing)(\w+)$/.exec(entryPoint)?.[1] ?? [],
      )
      expect(plugins.length).toBeGreaterThan(30)
      expect(paths).toEqual(expect.arrayContaining(plugins.map((key) => `plugins/${key}.md`)))
    })

    test('have every name once, and no link that leads nowhere', () => {
      const anchors = new Map(pages.map(({ path, text }) => [path, markdownAnchors(text)]))
      const broken = pages.flatMap(({ path, text }) =>
        markdownLinks(text.replace(/\[`([^`]*)`\]/g, '[$1]')).flatMap(({ target }) => {
          const [to = '', anchor] = target.split('#')
          const page = to === '' ? path : posix.join(posix.dirname(path), to)
          if (page.startsWith('../')) return existsSync(join(root, 'docs/api', page)) ? [] : [`${path} → ${target}`]
          const found = anchors.get(page)
          return found !== undefined && (anchor === undefined || found.has(anchor)) ? [] : [`${path} → ${target}`]
        }),
      )
      expect(broken).toEqual([])
      const headings = pages.flatMap(({ text }) => text.match(/^## .+$/gm) ?? [])
      expect(headings).toHaveLength(reference.names.length)
    })

    test('show signature, members and examples', () => {
      const { text } = pages.find(({ path }) => path === 'plugins.md')!
      expect(text).toContain('`definePlugin` from `framework`, `framework/kernel`')
      expect(text).toContain("- `onSend(hook: HookTypes['onSend']): void`\n\n  Runs before the response")
      expect(text).toMatch(/ {2}```ts\n {2}ctx\.onSend\(/)
      expect(text).not.toContain('constructor(host: ContextHost')
    })
  })

  describe('what a docstring leaves out is found', () => {
    const named = (name: string, text: string, members: Member[] = [], signature = `interface ${name}`): Member => {
      return { name, file: 'a.ts', line: 1, doc: readDocstring(`/** ${text} */`), signatures: [signature], members }
    }
    const gaps = (...names: Member[]) => undocumented({ names })

    test('a name and a member without one', () => {
      expect(gaps(named('Options', '', [named('limit', ''), named('port', 'What it listens on.')]))).toEqual([
        'a.ts:1 Options',
        'a.ts:1 Options.limit',
      ])
    })

    test('a member whose docstring repeats its name, or begins with its default', () => {
      expect(gaps(named('Options', 'Of a server.', [named('path', 'Default `/`.')]))).toHaveLength(1)
      expect(gaps(named('Options', 'Of a server.', [named('closeTimeout', 'The close timeout.')]))).toHaveLength(1)
      expect(gaps(named('Options', 'Of a server.', [named('closeTimeout', 'Milliseconds.')]))).toEqual([])
    })

    test('a part of a type that is written out, unless the docstring around names it', () => {
      const nested = named(
        'auth',
        'The credentials.',
        [named('user', '', [], 'user: string')],
        'auth: { user: string }',
      )
      expect(gaps(named('Options', 'Of a server, for a `user`.', [nested]))).toEqual(['a.ts:1 Options.auth.user'])
      const told = { ...nested, doc: readDocstring('/** The credentials of `user`. */') }
      expect(gaps(named('Options', 'Of a server.', [told]))).toEqual([])
    })

    test('tags are distinguished from the text, and the @ of an example from tags', () => {
      const comment = '/**\n * A.\n *\n * @throws B.\n * @example\n * @get(1)\n *   c()\n * @deprecated D.\n */'
      expect(readDocstring(comment)).toMatchObject({
        text: 'A.',
        throws: ['B.'],
        examples: ['@get(1)\n  c()'],
        deprecated: ['D.'],
      })
      expect(readDocstring('/** A. @internal */')).toMatchObject({ text: 'A.', isInternal: true })
    })
  })
})
