import { Argument, type Command } from 'commander'
import { NotedCommand } from '../help-notes.ts'

const shells = ['bash', 'zsh', 'fish'] as const

/** `open` returns all commands; completion offers exactly what they declare. */
export function completionCommand(open: () => Promise<readonly Command[]>): Command {
  return new NotedCommand('completion')
    .description('Print a script for tab completion of commands, options and runs.')
    .addArgument(new Argument('<shell>', 'your shell').choices(shells))
    .notes({
      examples: [
        ['magic completion bash >> ~/.bashrc'],
        ['magic completion zsh >> ~/.zshrc'],
        ['magic completion fish > ~/.config/fish/completions/magic.fish'],
      ],
    })
    .action(async (shell: (typeof shells)[number]) => {
      process.stdout.write(scripts[shell]((await open()).map(wordsOf)))
    })
}

interface OptionWords {
  readonly flag: string
  readonly description: string
  readonly takesValue: boolean
  /** The values to choose from; empty if any is possible. */
  readonly choices: readonly string[]
}

interface CommandWords {
  readonly name: string
  readonly description: string
  readonly options: readonly OptionWords[]
  readonly subcommands: readonly string[]
  readonly takesRun: boolean
}

function wordsOf(command: Command): CommandWords {
  return {
    name: command.name(),
    description: command.description(),
    options: command
      .createHelp()
      .visibleOptions(command)
      .flatMap(({ long, description, required, optional, argChoices = [] }) =>
        long == null
          ? []
          : [{ flag: long, description, takesValue: required || optional, choices: argChoices }],
      ),
    subcommands: command.commands.map((one) => one.name()),
    takesRun: command.registeredArguments.some((argument) => argument.name().startsWith('run')),
  }
}

const scripts: Readonly<Record<(typeof shells)[number], (commands: readonly CommandWords[]) => string>> = {
  bash,
  zsh,
  fish,
}

/** Where it offers nothing, bash completes file names. */
function bash(commands: readonly CommandWords[]): string {
  const cases = commands.flatMap(({ name, options, subcommands, takesRun }) => {
    const runs = takesRun ? [`$(ls "\${MAGIC_RUNS_DIR:-runs}" 2>/dev/null)`] : []
    const [free, chosen] = valued(options)
    return [
      ...chosen.map(({ flag, choices }) => `    "${name} ${flag} "*) words="${choices.join(' ')}" ;;`),
      ...(free.length === 0 ? [] : [`    ${free.map(({ flag }) => `"${name} ${flag} "*`).join('|')}) ;;`]),
      `    "${name} "*" -"*) words="${options.map(({ flag }) => flag).join(' ')}" ;;`,
      `    "${name} "*) words="${[...subcommands, ...runs].join(' ')}" ;;`,
    ]
  })
  return `_magic() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${commands.map(({ name }) => name).join(' ')} --help --version"
  else
    case "\${COMP_WORDS[1]} \${COMP_WORDS[COMP_CWORD - 1]} $current" in
${cases.join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _magic magic
`
}

/** Options with any value, and those with values to choose from. */
function valued(options: readonly OptionWords[]): [free: OptionWords[], chosen: OptionWords[]] {
  const all = options.filter(({ takesValue }) => takesValue)
  return [all.filter(({ choices }) => choices.length === 0), all.filter(({ choices }) => choices.length > 0)]
}

function zsh(commands: readonly CommandWords[]): string {
  // A colon ends the name in zsh's lists of names with descriptions.
  const listed = (name: string, description: string) =>
    `'${`${name.replaceAll(':', '\\:')}:${description}`.replaceAll("'", "'\\''")}'`
  const cases = commands.map(({ name, options, subcommands, takesRun }) =>
    [
      `    (${name})`,
      `      options=(${options.map(({ flag, description }) => listed(flag, description)).join(' ')})`,
      ...(subcommands.length > 0 ? [`      names=(${subcommands.join(' ')})`] : []),
      ...(takesRun ? [`      names=("\${MAGIC_RUNS_DIR:-runs}"/*(N:t))`] : []),
      '      ;;',
    ].join('\n'),
  )
  const values = commands.flatMap(({ name, options }) => {
    const [free, chosen] = valued(options)
    return [
      ...chosen.map(
        ({ flag, choices }) =>
          `    ("${name} ${flag}") names=(${choices.join(' ')}); compadd -a names; return ;;`,
      ),
      ...(free.length === 0
        ? []
        : [`    (${free.map(({ flag }) => `"${name} ${flag}"`).join('|')}) _files; return ;;`]),
    ]
  })
  return `#compdef magic
_magic() {
  local -a commands options names
  if (( CURRENT == 2 )); then
    commands=(${commands.map(({ name, description }) => listed(name, description)).join(' ')})
    _describe command commands
    return
  fi
  case "\${words[2]} \${words[CURRENT-1]}" in
${values.join('\n')}
  esac
  case "\${words[2]}" in
${cases.join('\n')}
  esac
  (( \${#names} )) && compadd -a names
  _describe -o option options
  _files
}
# A shell that completes already is left as it is set up.
(( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit }
compdef _magic magic
`
}

function fish(commands: readonly CommandWords[]): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = commands.flatMap(({ name, description, options, subcommands, takesRun }) => {
    const inside = `complete -c magic -n '__fish_seen_subcommand_from ${name}'`
    return [
      `complete -c magic -n __fish_use_subcommand -f -a ${name} -d ${quoted(description)}`,
      ...subcommands.map((one) => `${inside} -a ${one}`),
      ...(takesRun
        ? [`${inside} -a '(ls (set -q MAGIC_RUNS_DIR; and echo $MAGIC_RUNS_DIR; or echo runs) 2>/dev/null)'`]
        : []),
      ...options.map(({ flag, description: meaning, takesValue, choices }) => {
        const value = choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : takesValue ? ' -r' : ''
        return `${inside} -l ${flag.slice(2)}${value} -d ${quoted(meaning)}`
      }),
    ]
  })
  return `${lines.join('\n')}\n`
}
