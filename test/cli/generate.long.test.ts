// The same with all tests on Bun and Deno, and with a tool that asks how the types of a package resolve.
import './generate.test.ts'
