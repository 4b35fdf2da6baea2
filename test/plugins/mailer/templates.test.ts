import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Edge } from 'edge.js'
import { CustomAdapter, EdgeAdapter, EjsAdapter, HandlebarsAdapter, MustacheAdapter } from 'framework'
import Handlebars from 'handlebars'
import { describe, expect, test } from 'vitest'
import { Compiled } from '../../../plugins/mailer/templates/compiled.ts'

/** One template in the language of each engine. */
const engines = [
  {
    name: 'Mustache',
    make: () => new MustacheAdapter(),
    value: '{{name}}',
    raw: '{{{name}}}',
    open: '{{#a}}',
    logicless: true,
  },
  {
    name: 'Handlebars',
    make: () => new HandlebarsAdapter(),
    value: '{{name}}',
    raw: '{{{name}}}',
    open: '{{#a}}',
    logicless: true,
  },
  {
    name: 'EJS',
    make: () => new EjsAdapter(),
    value: '<%= name %>',
    raw: '<%- name %>',
    open: '<%= name',
    logicless: false,
  },
  {
    name: 'Edge',
    make: () => new EdgeAdapter(),
    value: '{{ name }}',
    raw: '{{{ name }}}',
    open: '{{ name',
    logicless: false,
  },
]

describe.each(engines)('$name', ({ make, value, raw, open }) => {
  const markup = '<b>"A" & \'B\'</b>'

  test('escapes in HTML by default, and never in text', async () => {
    const adapter = make()
    const html = await adapter.render(`<p>${value}</p>`, { name: markup }, 'html')
    expect(html).not.toMatch(/<b>|"|'| & /)
    expect(html).toMatch(/^<p>&lt;b&gt;.*A.* &amp; .*&lt;.*b&gt;<\/p>$/)
    expect(await adapter.render(`<p>${value}</p>`, { name: markup }, 'text')).toBe(`<p>${markup}</p>`)
    expect(await adapter.render(`<p>${value}</p>`, { name: markup }, 'html')).toBe(html)
    expect(await adapter.render(raw, { name: markup }, 'html')).toBe(markup)
  })

  test('tags in data are data', async () => {
    const adapter = make()
    for (const name of ['{{{', '{{ 7 * 7 }}', '<%- 7 * 7 %>', '@if(true)']) {
      expect(await adapter.render(value, { name }, 'text')).toBe(name)
    }
  })

  test('a mistake is an error, again and again', async () => {
    const adapter = make()
    for (let i = 0; i < 2; i++) await expect(async () => adapter.render(open, { name: 'a' }, 'html')).rejects.toThrow()
    expect(await adapter.render(value, { name: 'a' }, 'html')).toBe('a')
  })
})

describe.each(engines.filter(({ logicless }) => logicless))('$name has no programs', ({ make }) => {
  test('members of prototypes are not seen, and a missing variable is empty', async () => {
    const adapter = make()
    class User {
      name = 'Ada'
      get secret() {
        return 'hunter2'
      }
      token() {
        return 'hunter2'
      }
    }
    const data = { user: new User(), list: ['a'], text: 'x', fn: () => 'called' }
    const paths = [
      'constructor',
      'constructor.name',
      '__proto__',
      'toString',
      'user.constructor.name',
      'user.secret',
      'user.token',
    ]
    paths.push(
      'user.__proto__.token',
      'list.constructor',
      'list.push',
      'text.constructor',
      'text.length.constructor',
      'missing',
      'missing.too',
    )
    for (const path of paths) {
      for (const template of [`[{{${path}}}]`, `[{{#${path}}}{{/${path}}}]`]) {
        expect(await adapter.render(template, data, 'html'), template).toBe('[]')
      }
    }
    expect(await adapter.render('{{user.name}} {{#list}}{{.}}{{/list}}', data, 'html')).toBe('Ada a')
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
})

describe('Mustache', () => {
  test('has sections, dots, parents, functions and inverted sections', async () => {
    const template =
      '{{#books}}{{title}} of {{shop.name}}{{^last}}, {{/last}}{{/books}}{{^none}}!{{/none}}{{#shout}}{{/shout}}'
    const data = { shop: { name: 'X' }, books: [{ title: 'a' }, { title: 'b', last: true }], none: [] }
    expect(await new MustacheAdapter().render(template, data, 'html')).toBe('a of X, b of X!')
    const lambda = {
      name: 'Ada',
      shout: () => (text: string, render: (text: string) => string) => render(text).toUpperCase(),
    }
    expect(await new MustacheAdapter().render('{{#shout}}{{name}}{{/shout}}', lambda, 'html')).toBe('ADA')
  })

  test('a new delimiter of one template is not there for the next', async () => {
    const adapter = new MustacheAdapter()
    expect(await adapter.render('{{=<% %>=}}<% name %>{{name}}', { name: 'a' }, 'html')).toBe('a{{name}}')
    expect(await adapter.render('{{name}}<% name %>', { name: 'a' }, 'html')).toBe('a<% name %>')
  })
})

describe.each([
  { name: 'EJS', make: () => new EjsAdapter(), tag: (inside: string) => `<%= ${inside} %>` },
  { name: 'Edge', make: () => new EdgeAdapter(), tag: (inside: string) => `{{ ${inside} }}` },
])('subjects and texts of $name', ({ make, tag }) => {
  const data = { name: 'A & <b>', order: { number: 5, lines: ['a', 'b'] }, none: null, ü: 'x', fn: () => 'called' }
  const render = async (template: string, values: object = data) => make().renderNames(template, values)

  test('put values in the place of names', async () => {
    const template = `${tag('name')}, ${tag('order.number')} ${tag('order.lines.1')} ${tag('order.lines.length')}`
    expect(await render(template)).toBe('A & <b>, 5 b 2')
    expect(await render(`[${tag('none')}${tag('none.more')}${tag('order.more')}]${tag('ü')}`)).toBe('[]x')
    expect(await render(`{ 100 % } > < 'a' \\ ${tag('name')}`)).toBe(`{ 100 % } > < 'a' \\ A & <b>`)
    // What a value holds is not a template.
    expect(await render(tag('name'), { name: tag('order') })).toBe(tag('order'))
  })

  test.each([
    '7 * 7',
    'name.toUpperCase()',
    'fn()',
    'fn',
    'process.exit(1)',
    'process.env.PATH',
    'globalThis',
    'name.constructor',
    'order.__proto__',
    'constructor.constructor("return process")()',
    'order["number"]',
    'name; order',
    '',
    '`a`',
    'a => a',
    "include('/etc/passwd')",
  ])('run nothing: %s', async (code) => {
    await expect(render(tag(code))).rejects.toThrow(/is not a name of the data|the data has no/)
  })

  test('report a name that the data does not have, also an inherited one of objects', async () => {
    await expect(render(tag('nmae'))).rejects.toThrow('the data has no "nmae"')
    await expect(render(tag('toString'))).rejects.toThrow('the data has no "toString"')
  })
})

test.each([
  '<% throw 1 %>',
  '<%_ throw 1 _%>',
  '<%= name',
  '<%',
  '<%- include("/etc/passwd") %>',
])('a subject of EJS with %s is refused', async (template) => {
  expect(() => new EjsAdapter().renderNames(template, { name: 'a' })).toThrow('is not a name of the data')
})

test('a text of EJS has its comments, its literal tags and its trimmed line breaks', () => {
  const template = 'a<%# a comment %>b <%% <%- name -%>\n<%= name %>\n'
  expect(new EjsAdapter().renderNames(template, { name: 'N' })).toBe('ab <% NN\n')
})

test.each([
  '@if(name)\nx\n@end',
  'a\n  @eval(process.exit(1))',
  '@include("x")',
  '{{ name',
  '{{{ name }}',
])('a subject of Edge with %j is refused', async (template) => {
  await expect(new EdgeAdapter().renderNames(template, { name: 'a' })).rejects.toThrow('is not a name of the data')
})

test('a text of Edge has its comments, its literal braces and parts that only look like a tag', async () => {
  const template = 'a{{-- a comment --}}b @{{ name }} {{{ name }}}\n@ada (if you like) me@if(x)'
  expect(await new EdgeAdapter().renderNames(template, { name: 'N' })).toBe(
    'ab {{ name }} N\n@ada (if you like) me@if(x)',
  )
})

describe('EJS', () => {
  test('settings do not come from data', async () => {
    const data = {
      name: 'a',
      settings: { 'view options': { client: true } },
      escapeFunction: '1;throw 1',
      client: true,
      cache: true,
    }
    expect(await new EjsAdapter().render('<%= name %>', data, 'html')).toBe('a')
    expect(await new EjsAdapter().render('<%= none.a %>', { none: { a: undefined } }, 'text')).toBe('')
  })
})

describe('an instance of ones own', () => {
  test('of Handlebars has its helpers', async () => {
    const engine = Handlebars.create()
    engine.registerHelper('loud', (text: string) => text.toUpperCase())
    engine.registerPartial('foot', 'bye {{name}}')
    const adapter = new HandlebarsAdapter(engine)
    expect(await adapter.render('{{loud name}} {{> foot}}', { name: 'a' }, 'html')).toBe('A bye a')
    await expect(new HandlebarsAdapter().render('{{loud name}}', { name: 'a' }, 'html')).rejects.toThrow(/loud/)
  })

  test('of Edge sees data before globals of the runtime', async () => {
    const data = { URL: 'mine', navigator: '<', 'no-name': 1 }
    expect(await new EdgeAdapter().render('{{ URL }} {{ navigator }} {{ Object.keys({ a: 1 }) }}', data, 'html')).toBe(
      'mine &lt; a',
    )
    expect(await new EdgeAdapter().render('{{ typeof URL }}', {}, 'html')).toBe('function')
  })

  test('of Edge has its globals, layouts and stacks', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'framework-edge-'))
    try {
      writeFileSync(join(folder, 'foot.edge'), '@pushTo("foot")\nbye {{ name }}\n@end')
      const engine = Edge.create()
      engine.mount(folder)
      engine.global('shop', () => 'X & Y')
      const adapter = new EdgeAdapter(engine)
      const template = '{{ shop() }}\n@if(name)\n{{ name }}\n@end\n@include("foot")\n@stack("foot")'
      expect((await adapter.render(template, { name: '<' }, 'html')).replace(/\s+/g, ' ')).toMatch(
        /^X &amp; Y &lt; .*bye &lt;/,
      )
      expect((await adapter.render(template, { name: '<' }, 'text')).replace(/\s+/g, ' ')).toMatch(/^X & Y < .*bye </)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('compiled templates', () => {
  test('are kept, and not without bound', async () => {
    const compiled = new Compiled<object>()
    const first = compiled.of('a', 'html', () => ({}))
    expect(compiled.of('a', 'html', () => ({}))).toBe(first)
    expect(compiled.of('a', 'text', () => ({}))).not.toBe(first)
    for (let i = 0; i < 100_000; i++) compiled.of(`${i}`, 'html', () => ({}))
    expect(compiled.size).toBeLessThanOrEqual(1000)
    for (let i = 0; i < 10; i++) compiled.of(`${i}`.repeat(1_000_000), 'html', () => ({}))
    expect(compiled.size).toBeLessThanOrEqual(2)
    // Larger than all of them together: used, and not kept.
    expect(compiled.of('x'.repeat(3_000_000), 'html', () => ({}))).toEqual({})
  })
})

test('a custom adapter is a function', async () => {
  const adapter = new CustomAdapter(async (template, data, kind) => `${kind} ${template} ${JSON.stringify(data)}`)
  expect(await adapter.render('a', { b: 1 }, 'text')).toBe('text a {"b":1}')
  expect(() => new CustomAdapter('a' as never)).toThrow(expect.objectContaining({ code: 'OptionError' }))
})
