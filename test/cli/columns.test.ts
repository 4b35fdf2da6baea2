import { expect, test } from 'vitest'
import { columns } from '../../cli/columns.ts'

const rows = [
  ['GET', '/books', 'listBooks', 'validates query · cached'],
  ['DELETE', '/books/:id', 'removeBook', ''],
  ['POST', '/authors/:author/books/:book/chapters/:chapter', 'addChapter', 'policy books.write'],
]

test('without a width every row is one line', () => {
  expect(columns(rows)).toEqual([
    'GET     /books                                          listBooks   validates query · cached',
    'DELETE  /books/:id                                      removeBook',
    'POST    /authors/:author/books/:book/chapters/:chapter  addChapter  policy books.write',
  ])
})

test('with one a long cell has a line of its own, and the last column is broken between words', () => {
  expect(columns(rows, 60)).toEqual([
    'GET     /books      listBooks   validates query · cached',
    'DELETE  /books/:id  removeBook',
    'POST    /authors/:author/books/:book/chapters/:chapter',
    '                    addChapter  policy books.write',
  ])
  expect(columns([['list', 'Lists the commands of this application and of its plugins']], 40)).toEqual([
    'list  Lists the commands of this',
    '      application and of its plugins',
  ])
})

test('where no room is left in the line, the last column is below', () => {
  expect(columns([['a-name-of-twenty-one', 'function-of-twenty-on', 'some words about it']], 50)).toEqual([
    'a-name-of-twenty-one  function-of-twenty-on',
    '    some words about it',
  ])
})

test.each([
  [[], []],
  [[[]], ['']],
  [[['', '']], ['']],
  [
    [['a'], ['b', 'c']],
    ['a', 'b  c'],
  ],
  [[['x', 'y'.repeat(100)]], [`x  ${'y'.repeat(100)}`]],
])('%j in 30 characters', (given, lines) => {
  expect(columns(given, 30)).toEqual(lines)
})

test('no width, however small, loses a word or ends', () => {
  const words = rows.flat().join(' ').split(/\s+/).filter(Boolean)
  for (let width = 0; width < 120; width++) {
    const written = columns(rows, width).join('\n').split(/\s+/).filter(Boolean)
    expect(written).toEqual(words)
  }
})
