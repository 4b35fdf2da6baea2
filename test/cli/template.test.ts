import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fill, fromTemplate } from '../../cli/scaffold/template.ts'

test('a hole gets its value as it is, also if that has holes or marks of replacements', () => {
  expect(fill('const {{name}} = [{{name}}]', { name: 'a' })).toBe('const a = [a]')
  expect(fill('{{a}}{{b}}', { a: '{{b}}<$&>', b: '' })).toBe('{{b}}<$&>')
})

test('text that only looks like a hole stays', () => {
  expect(fill('{ {name} } {{ name }} /\\{\\{(\\w+)\\}\\}/ { a: { b } }}', {})).toBe(
    '{ {name} } {{ name }} /\\{\\{(\\w+)\\}\\}/ { a: { b } }}',
  )
})

test('a section stays if its value is neither empty nor false, an inverted one otherwise', () => {
  const of = (a: string | boolean | undefined) => fill('f({{#a}}yes, {{/a}}{{^a}}no, {{/a}}x)', { a })
  expect([true, 'text'].map(of)).toEqual(['f(yes, x)', 'f(yes, x)'])
  expect([false, '', undefined].map(of)).toEqual(['f(no, x)', 'f(no, x)', 'f(no, x)'])
})

test('the tag of a section that has a line of its own leaves no line, and sections may contain others', () => {
  const template = '1\n{{#a}}\n2 {{value}}\n{{#b}}\n3\n{{/b}}\n{{/a}}\n{{^a}}\n4\n{{/a}}\n5\n'
  expect(fill(template, { a: true, b: true, value: 'x' })).toBe('1\n2 x\n3\n5\n')
  expect(fill(template, { a: true, b: false, value: 'x' })).toBe('1\n2 x\n5\n')
  expect(fill(template, { a: false, b: true })).toBe('1\n4\n5\n')
})

test.each([
  ['a {{nmae}}', 'the hole {{nmae}}, which has no value'],
  ['{{#other}}a{{/other}}', 'the hole {{other}}, which has no value'],
  ['{{toString}}', 'the hole {{toString}}, which has no value'],
  ['{{flag}}', 'the hole {{flag}}, whose value is not a string'],
  ['{{#flag}}\na', '{{#flag}} without its other end'],
  ['a{{/flag}}', '{{/flag}} without its other end'],
  ['{{#flag}}{{#name}}{{/flag}}{{/name}}', '{{#name}} without its other end'],
])('%j is refused', (template, message) => {
  expect(() => fill(template, { name: 'a', flag: true })).toThrow(message)
})

test('a template that does not exist is refused with its name', () => {
  expect(() => fromTemplate('project/no-such-file')).toThrow('no-such-file.mustache')
})

test('every file among the templates is a template', () => {
  const files = readdirSync('cli/scaffold/templates', { recursive: true, withFileTypes: true })
  expect(files.filter((file) => file.isFile() && !file.name.endsWith('.mustache'))).toEqual([])
})
