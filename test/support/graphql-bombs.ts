const doubling = (levels: number) =>
  Array.from(
    { length: levels },
    (_, i) => `fragment F${i} on Query { a: self { ...F${i + 1} } b: self { ...F${i + 1} } }`,
  ).join(' ')

/** Documents that would cost a server far more than their sender; all for the example schema. */
export const bombs: Readonly<Record<string, string>> = {
  'depth 50': `${'{self'.repeat(50)}{hello}${'}'.repeat(50)}`,
  'depth 5000': `${'{self'.repeat(5000)}{hello}${'}'.repeat(5000)}`,
  '10 000 aliases': `{${Array.from({ length: 10_000 }, (_, i) => `a${i}:hello`).join(' ')}}`,
  '600 aliases': `{${Array.from({ length: 600 }, (_, i) => `a${i}:hello`).join(' ')}}`,
  '20 000 directives': `{hello ${'@skip(if:false)'.repeat(20_000)}}`,
  '200 directives': `{hello ${'@skip(if:false)'.repeat(200)}}`,
  'an unknown directive, repeated': `{hello ${'@a'.repeat(900)}}`,
  'a fragment that spreads itself': '{...A} fragment A on Query {self{...A}}',
  'a fragment that is itself': '{...A} fragment A on Query {hello ...B} fragment B on Query {... {...A}}',
  'fragments in a circle': '{...A} fragment A on Query {self{...B}} fragment B on Query {self{...A}}',
  'fragments that double': `{...F0} ${doubling(40)} fragment F40 on Query {hello}`,
  'fragments that double, without aliases': `{...F0} ${Array.from(
    { length: 14 },
    (_, i) =>
      `fragment F${i} on Query {self{...F${i + 1}} ${'abcdefgh'
        .split('')
        .map((n) => `${n}{...F${i + 1}}`)
        .join(' ')}}`,
  ).join(' ')} fragment F14 on Query {hello}`,
  'a field repeated': `{${'hello '.repeat(1990)}}`,
  'an object repeated': `{${'self{hello}'.repeat(490)}}`,
  'objects repeated in each other': `{${`self{${'hello '.repeat(30)}}`.repeat(55)}}`,
  'a field repeated by fragments': `{${Array.from({ length: 200 }, (_, i) => `...F${i}`).join(' ')}} ${Array.from({ length: 200 }, (_, i) => `fragment F${i} on Query{hello}`).join(' ')}`,
  'a megabyte of fields': `{${'hello '.repeat(170_000)}}`,
  'empty lines before many mistakes': `${'\n'.repeat(47_000)}query(${'$v:Int '.repeat(400)}){hello}`,
  'the introspection under many names': `{${Array.from({ length: 20 }, (_, i) => `a${i}:__schema{types{name}}`).join(' ')}}`,
  'the introspection, its lists under many names': `{__schema{${Array.from({ length: 20 }, (_, i) => `a${i}:types{name}`).join(' ')}}}`,
  'lists in lists': `{hello(name:${'['.repeat(3000)}${']'.repeat(3000)})}`,
}
