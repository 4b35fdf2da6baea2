/** A body and its kind, by the grammar of RFC 8259. */
export interface JsonCase {
  readonly name: string
  readonly bytes: Uint8Array
}

const latin1 = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0))
const utf8 = (text: string) => new TextEncoder().encode(text)
const named = (name: string, bytes: Uint8Array): JsonCase => ({ name, bytes })
const ofText = (text: string) => named(text.length > 60 ? `${text.slice(0, 60)}…` : text, utf8(text))
/** Bytes, written as the characters of their numbers. */
const ofBytes = (text: string) => named(JSON.stringify(text), latin1(text))

/** The places where a value may stand. */
const places: ((value: string) => string)[] = [
  (value) => value,
  (value) => `[${value}]`,
  (value) => `{"a":${value}}`,
  (value) => `[1,${value},"z"]`,
  (value) => ` \t\r\n${value}\n`,
]
const everywhere = (values: readonly string[]) => values.flatMap((value) => places.map((place) => place(value)))
const inArray = (values: readonly string[]) => values.map((value) => `[${value}]`)

const numbers = [
  '0',
  '-0',
  '7',
  '-7',
  '10',
  '1234567890',
  '0.5',
  '-0.5',
  '1.25',
  '0.000000000000001',
  '0e0',
  '0e+1',
  '0e-1',
]
numbers.push('1e2', '1E2', '1e+2', '1E+2', '1e-2', '1E-2', '1.5e3', '-1.5E-3', '1e01', '0.10', '9007199254740993')

const strings = ['""', '"a"', '" "', '"/"', '"\\/"', '"\\""', '"\\\\"', '"\\b\\f\\n\\r\\t"', '"\\u0000"', '"\\u0041"']
strings.push(
  '"\\u00e9"',
  '"\\u20AC"',
  '"\\uD83D\\uDE00"',
  '"\\ud83d\\ude00"',
  '"\\\\u0041"',
  '"\\\\n"',
  '"\\u005C\\u0022"',
)
strings.push(
  '"é"',
  '"€"',
  '"😀"',
  '"\u007f"',
  '"\u0080"',
  '"\u2028\u2029"',
  '"\ufeff"',
  '"\uffff"',
  '"\u{10ffff}"',
  '"\u0300"',
)
strings.push('"[{,:}]"', '"// no comment /* */"', '"null"', `"${'x'.repeat(1000)}"`)

const structures = ['[]', '{}', '[ ]', '{ }', '[[]]', '[{}]', '{"":0}', '{"a":{}}', '[null,1,"1",{}]', '{"a":1,"b":2}']
structures.push(
  '{"a":1,"a":2}',
  '{"a":1,"a":1}',
  '{"\\u0061":1}',
  '{"\\u0000":1}',
  '{"a":[]}',
  '[\n1\r,\t2 ]',
  '[[[[[[[[1]]]]]]]]',
)
structures.push('{ "a" : 1 , "b" : [ 2 ] }', '{"é":1}', '{"😀":1}', '{"null":null,"true":true,"false":false}')

/** What every reader must take. */
export const accepted: readonly JsonCase[] = [
  ...everywhere(['null', 'true', 'false']),
  ...everywhere(numbers),
  ...everywhere(strings),
  ...structures,
].map(ofText)

const badNumbers = [
  '-',
  '+',
  '+1',
  '--1',
  '- 1',
  '01',
  '-01',
  '00',
  '1.',
  '.5',
  '-.5',
  '1..2',
  '1.2.3',
  '1.e1',
  '1e',
  '1e+',
  '1e-',
]
badNumbers.push(
  '1eE2',
  '1e1.5',
  '1e+-2',
  '1 000',
  '1_000',
  '1,',
  '0x1',
  '0X1',
  '0b1',
  '0o1',
  '1n',
  '1f',
  '1L',
  'e1',
  '1e2e3',
  '0.e1',
)
badNumbers.push(
  'Infinity',
  '-Infinity',
  'NaN',
  '-NaN',
  'inf',
  'nan',
  '١',
  '１',
  '1\u00a0',
  '1a',
  '-a',
  '- ',
  '1.-1',
  '1+2',
  '½',
  '1e１',
)

const badStrings = [
  '"',
  '"a',
  "'a'",
  'a',
  '`a`',
  '"a""',
  '"\\"',
  '"\\x41"',
  '"\\0"',
  '"\\u"',
  '"\\u1"',
  '"\\u12"',
  '"\\u123"',
]
badStrings.push(
  '"\\u12g4"',
  '"\\U0041"',
  '"\\u{41}"',
  '"\\a"',
  '"\\v"',
  '"\\\'"',
  '"\\ "',
  '"\\é"',
  '"\\😀"',
  '"a\nb"',
  '"a\tb"',
  '"a\rb"',
)
badStrings.push(
  '"a\u0000b"',
  '"a\u001fb"',
  '"a\\\nb"',
  '\\u0022a\\u0022',
  '“a”',
  '"a" "b"',
  '"a"b',
  '"\\uD83D\\"',
  '"\\uD83D\\u"',
  'u0041',
)

const badLiterals = [
  'nul',
  'nulll',
  'Null',
  'NULL',
  'True',
  'TRUE',
  'tru',
  'truefalse',
  'fals',
  'FALSE',
  'undefined',
  'None',
  'nil',
  'yes',
]

const badStructures = [
  '[',
  ']',
  '{',
  '}',
  '[[]',
  '[]]',
  '{}}',
  '{{}}',
  '[}',
  '{]',
  '[1',
  '[1,',
  '[1,]',
  '[,]',
  '[,1]',
  '[1,,2]',
  '[1 2]',
]
badStructures.push(
  '[1;2]',
  '[1:2]',
  '["a":1]',
  '(1)',
  '<1>',
  '[1]]',
  '[[1]',
  '[1}',
  '{"a":1]',
  '{"a":1',
  '{"a":',
  '{"a"',
  '{"a',
  '{"a"}',
)
badStructures.push(
  '{"a",1}',
  '{"a":}',
  '{"a":1,}',
  '{"a":1,,"b":2}',
  '{,"a":1}',
  '{,}',
  '{a:1}',
  "{'a':1}",
  '{1:1}',
  '{null:1}',
  '{true:1}',
)
badStructures.push(
  '{[]:1}',
  '{"a" 1}',
  '{"a"=1}',
  '{"a"=>1}',
  '{"a"::1}',
  '{"a":1 "b":2}',
  '{"a":1;"b":2}',
  '{"a":b}',
  '{"a":1}}',
  '{"a":"b}',
)
badStructures.push(
  '{"a":1}//',
  '{"a":1}/**/',
  '/**/1',
  '//\n1',
  '#\n1',
  '[1/**/]',
  '{"a":/**/1}',
  '1 2',
  '{} {}',
  '[] []',
  'null null',
  '{}[]',
)
badStructures.push(
  '1,',
  ',1',
  ':',
  ',',
  ' ',
  '\n',
  '\u00a01',
  '1\u00a0',
  '\u20281',
  '\u20601',
  '\u30001',
  '\v1',
  '\f1',
  '\u00001',
  '1\u0000',
  '*',
  '@',
)
badStructures.push(
  '[...a]',
  '[*]',
  '{*:1}',
  '<a/>',
  '$',
  '[\\n1]',
  '[\u000c1]',
  '[1\v]',
  '{"a":1\u0000}',
  '["a"\u0000]',
  '[1]x',
  '{"a":1}x',
  '["",',
)
badStructures.push(
  '['.repeat(20),
  '{"a":'.repeat(20),
  `${'['.repeat(20)}1${']'.repeat(19)}`,
  '[-]',
  '[.]',
  '[e]',
  '{"a":-}',
  '["\\',
  '["\\u',
  '["\\u00A"]',
)

/** Invalid UTF-8 (RFC 3629), in a string and bare. */
const badBytes = [
  '\x80',
  '\xbf',
  '\xc0\xaf',
  '\xc1\xbf',
  '\xc3',
  '\xc3(',
  '\xe2\x82',
  '\xe0\x80\xaf',
  '\xed\xa0\x80',
  '\xed\xbf\xbf',
  '\xf0\x80\x80\xaf',
]
badBytes.push(
  '\xf0\x9f\x98',
  '\xf4\x90\x80\x80',
  '\xf5\x80\x80\x80',
  '\xf8\x88\x80\x80\x80',
  '\xfc\x80\x80\x80\x80\x80',
  '\xfe',
  '\xff',
  '\xe9',
)

/** What every reader must refuse. */
export const refused: readonly JsonCase[] = [
  ...[...badNumbers, ...badStrings, ...badLiterals, ...badStructures].map(ofText),
  ...inArray([...badNumbers, ...badLiterals])
    .filter((text) => text !== '[1,]')
    .map(ofText),
  ...badBytes.flatMap((bytes) => [
    ofBytes(`"${bytes}"`),
    ofBytes(`{"a${bytes}":1}`),
    ofBytes(`[${bytes}]`),
    ofBytes(bytes),
  ]),
]

const wide = (text: string, isLittle: boolean) =>
  Uint8Array.from([...text].flatMap((char) => (isLittle ? [char.charCodeAt(0), 0] : [0, char.charCodeAt(0)])))

const infinite = ['1e400', '-1e400', '0.4e00669999999999999999999999999999', '123e10000000', '9'.repeat(400)]

/** What a reader may take or refuse, with the status it has here, which is the same everywhere. */
export const open: readonly (JsonCase & { readonly status: 200 | 400 | 422 })[] = [
  // Numbers are those of IEEE 754: one that does not fit is infinite, and so not of the type number.
  ...infinite.flatMap((value) => [
    { ...ofText(value), status: 422 as const },
    { ...ofText(`[${value}]`), status: 200 as const },
  ]),
  ...['1e-400', '-1e-400', '100000000000000000000', '-237462374673276894279832749832423479823246327846'].map(
    (text) => ({
      ...ofText(text),
      status: 200 as const,
    }),
  ),
  // Halves of a pair, escaped: text of JavaScript has them.
  ...[
    '\\uD800',
    '\\uDFAA',
    '\\ud800\\n',
    '\\uD800\\uD800',
    '\\uDC00\\uD800',
    '\\uDd1e\\uD834',
    '\\uD834\\u0061',
    'a\\udbffb',
  ].map((text) => ({ ...ofText(`["${text}"]`), status: 200 as const })),
  // A leading mark, and other encodings than UTF-8.
  { ...named('a byte order mark', Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d)), status: 400 },
  { ...named('half a byte order mark', Uint8Array.of(0xef, 0xbb, 0x7b, 0x7d)), status: 400 },
  ...[true, false].flatMap((isLittle) => [
    { ...named(`UTF-16, little ${isLittle}`, wide('["é"]', isLittle)), status: 400 as const },
    { ...named(`UTF-16 with a mark, little ${isLittle}`, wide('\ufeff["a"]', isLittle)), status: 400 as const },
  ]),
  // Deeper than the limit.
  { ...named('500 levels', utf8('['.repeat(500) + ']'.repeat(500))), status: 400 },
  { ...named('64 levels', utf8('['.repeat(64) + ']'.repeat(64))), status: 200 },
]
