// The same with four times as many trees.
import './explain-random.test.ts'
