// The plan language.
//
// A statement ends at a newline or a semicolon. Four rules are applied to the
// tokens before they are parsed (compiler/frontend/parse/tokens.h): a newline
// after a comma or inside ( ) and [ ] is hidden, a closing brace ends the
// statement before it, `2*3` after an equals sign is three tokens, and
// `user-id` is one token where no expression is possible.
// The grammar defines everything else, without actions or predicates.
//
// The names of options, styles and units are checked after parsing, so that an
// unknown one is reported with the nearest known name.

grammar Plan;

plan : end* 'plan' planName '{' item* '}' end* EOF ;
planName : word | STRING ;
item : statement? end ;
end : NEWLINE | ';' ;

statement
    : modelStatement | meshStatement | foldStatement | letStatement
    | valueStatement | lossStatement | microbatchesStatement
    | dataStatement | precisionStatement | recomputeStatement
    | optimizerStatement | clipStatement | nonfiniteStatement | trainableStatement | initStatement
    | overlapStatement | weightNamesStatement | routingStatement
    | reservedStatement
    | entry | block
    ;

// Model, mesh and values.
modelStatement : 'model' STRING ;
meshStatement : 'mesh' axisDefinition (',' axisDefinition)* ;
axisDefinition : axisName '=' expression ;
foldStatement : 'fold' '(' axisName (',' axisName)* ')' 'as' '(' axisDefinition (',' axisDefinition)* ')' ;
letStatement : 'let' axisName '=' expression ;

// Inputs, outputs and the batch.
valueStatement : ('input' | 'output') name (',' name)* ':' dims ;
name : word | NUMBER | PATH | STRING ;
dims : '[' (dim (',' dim)*)? ']' ;
dim : word ('=' expression)? ('over' axes)? ;
lossStatement : 'loss' name ('per' word)? ;
microbatchesStatement : 'microbatches' expression 'mean'? ;

// Entries: one parallel style per module.
entry : 'override'? (path | 'rest') ':' clause (',' clause)* ;
block : path '{' blockItem* '}' ;
blockItem : (entry | block)? end ;
clause : styleClause | borderClause | parameterClause ;
styleClause : NAME axes? styleOption* ;
styleOption : word optionValue ;
optionValue : expression | '(' part (',' part)* ')' ;
part : partName? expression ;
partName : axisName ;
borderClause : ('input' | 'output') index? layout ;
index : NUMBER ;
parameterClause : 'parameter' '{' placementItem* '}' ;
placementItem : placement? end ;
placement : name ':' layout partsOption? ;
partsOption : 'parts' optionValue ;
layout : word | 'split' expression 'over' axes | dims ;

// Training.
dataStatement : 'data' axes (',' axes)* ('on' paths)? optionBlock ;
precisionStatement : 'precision' optionBlock ;
recomputeStatement : 'recompute' paths ('keep' word (',' word)*)? ;
optimizerStatement : 'optimizer' word optionBlock? ;
clipStatement : 'clip_grad_norm' number ;
nonfiniteStatement : 'nonfinite' word word ;
trainableStatement : ('freeze' | 'train' 'only' | 'unused') paths ;

// The name of an option is a path, 'rest', or 'override' followed by a path; its operands are a distribution.
initStatement : 'init' optionBlock ;

// The names of parameters in weight files.
weightNamesStatement : 'weight_names' '{' weightNameItem* '}' ;
weightNameItem : weightName? end ;
weightName : path ':' (word path | path) styleOption* ;

// What the estimated timeline of a step must keep to: 'require gradients hidden >= 90 %', 'forbid exposed > 5 ms'.
overlapStatement : 'overlap' optionBlock ;

// Tokens that are routed to experts: 'reserve 1.25', 'capacity 1.5 on P', 'balance bias 0.001 on P'.
routingStatement : ('reserve' | 'capacity' | 'balance' word) number ('on' paths)? ;

// Reserved statements: they are parsed, and refused by name.
reservedStatement
    : 'pipeline' axes optionBlock?
    | 'context' axes optionBlock?
    | 'offload' word (',' word)*
    | 'tie' paths
    | 'shapes' (operands optionBlock? | optionBlock)
    ;

// Options: a name, operands in groups between commas, a block.
optionBlock : '{' optionItem* '}' ;
optionItem : option? end ;
option : (word | NUMBER | PATH | STAR | STRING | 'rest') operands? optionBlock? ;
operands : operandGroup (',' operandGroup)* ;
operandGroup : operand+ ;
operand : number | word | 'rest' | PATH | STAR | STRING | comparison | ('[' | '(') operands (']' | ')') ;
comparison : '>=' | '<=' | '>' | '<' | '=' ;

axes : axisName | '(' axisName (',' axisName)* ')' ;
paths : path (',' path)* ;
path : PATH | STAR | STRING | NUMBER | word ;
number : '-'? (NUMBER (UNIT | '%')? | QUANTITY) ;

expression : product (('+' | '-') product)* ;
product : factor (('*' | '/') factor)* ;
factor : '-' factor | NUMBER | axisName | '(' expression ')' ;

// A word may be a keyword. The keywords in `axisName` may also name axes and
// values; the others end a list of axes or an expression.
word : axisName | 'over' | 'on' | 'as' | 'keep' | 'mean' | 'only' | 'split' | 'parameter' | 'parts' | 'dim' ;
axisName
    : NAME | UNIT | 'plan' | 'model' | 'mesh' | 'let' | 'input' | 'output' | 'loss' | 'microbatches' | 'override'
    | 'data' | 'precision' | 'recompute' | 'optimizer' | 'clip_grad_norm' | 'nonfinite' | 'freeze' | 'train' | 'unused'
    | 'pipeline' | 'context' | 'fold' | 'overlap' | 'init' | 'weight_names' | 'offload' | 'tie' | 'shapes' | 'per'
    | 'reserve' | 'capacity' | 'balance'
    ;

LEFT_BRACE : '{' ;
RIGHT_BRACE : '}' ;
LEFT_BRACKET : '[' ;
RIGHT_BRACKET : ']' ;
LEFT_PAREN : '(' ;
RIGHT_PAREN : ')' ;
COMMA : ',' ;
SEMICOLON : ';' ;
COLON : ':' ;
EQUAL : '=' ;
STAR : '*' ;
SLASH : '/' ;
PLUS : '+' ;
MINUS : '-' ;
UNIT : 'KiB' | 'MiB' | 'GiB' | 'KB' | 'MB' | 'GB' | 'us' | 'ms' | 's' ;

NAME : [A-Za-z_] [A-Za-z_0-9]* ;
NUMBER : DIGITS ('.' DIGITS)? ([eE] [+-]? DIGITS)? ;
QUANTITY : DIGITS ('.' DIGITS)? UNIT ;
STRING : QUOTED ;

// A path is one token; so is one with a minus between its letters, after the
// rules above. Braces belong to it if they hold alternatives on one line: more
// than one, or one without spaces around it. All other braces open a block. A
// part of a path between two dots may be quoted; a text that is quoted as a
// whole is a STRING.
PATH : (PATH_CHAR | BRACES | QUOTED '.' (PATH_CHAR | BRACES | QUOTED)) (PATH_CHAR | '.' QUOTED? | BRACES)* ;

fragment QUOTED : '"' (~["\\\r\n] | '\\' ["\\])* '"' ;
fragment DIGITS : [0-9]+ ;
fragment PATH_CHAR : [A-Za-z_0-9*] ;
// A brace inside an ALTERNATIVE must match in one way only: with two ways for
// each, the lexer would follow 2^n of them through n open braces.
fragment BRACES
    : '{' (CHOICE ('}' | MORE_CHOICES) | RANGE BLANK+ '}')
    | '{' BLANK+ (CHOICE MORE_CHOICES | RANGE BLANK* '}')
    ;
fragment MORE_CHOICES : (BLANK* ',' BLANK* CHOICE)+ BLANK* '}' ;
fragment CHOICE : ALTERNATIVE | RANGE ;
fragment RANGE : DIGITS '..' DIGITS (BLANK+ 'by' BLANK+ DIGITS)? ;
fragment ALTERNATIVE : PIECE ('-'? PIECE)* ;
fragment PIECE : PATH_CHAR | '.' | BRACES | QUOTED ;
fragment BLANK : [ \t] ;

NEWLINE : '\r'? '\n' ;
SPACE : [ \t\r\f]+ -> skip ;
LINE_COMMENT : '//' ~[\r\n]* -> channel(HIDDEN) ;
BLOCK_COMMENT : '/*' .*? '*/' -> channel(HIDDEN) ;
UNCLOSED_COMMENT : '/*' (~'*' | '*'+ ~[*/])* '*'* ;
UNCLOSED_STRING : '"' (~["\\\r\n] | '\\' .)* ;
UNKNOWN : . ;
